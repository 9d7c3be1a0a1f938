public import Foundation
import Synchronization

/// Collects the indexes that an app's queries need in production, while the queries run.
///
/// Set ``FirestoreSettings/indexAdvisor`` in the app's tests and run them against a local server.
/// Then `tidemark indexes` creates `firestore.indexes.json` from the file, or checks the existing
/// one:
///
/// ```swift
/// settings.indexAdvisor = IndexAdvisor(file: "index-needs.json")
/// ```
/// ```
/// tidemark indexes index-needs.json --file firestore.indexes.json --check
/// ```
///
/// The advisor sees every query to the server, including those of feeds, pagers and listeners. It
/// stores the names of collections and fields, and no values. Costs no reads. Thread-safe; several
/// clients can share an advisor.
public final class IndexAdvisor: Sendable {
    /// The file with the needed indexes; nil for none.
    public let file: String?
    private let state = Mutex(State())

    private struct State {
        var needs = IndexNeeds()
        /// The reason why the last write of the file failed.
        var fault: String?
        /// True if the file had other contents from the start. It is never written then.
        var isForeign = false
    }

    /// - Parameter file: The file, which is written each time a query needs a new index, so a kill
    ///   loses nothing. Its earlier contents stay, so several runs add up. Nil keeps the needs in
    ///   memory only.
    public init(file: String? = nil) {
        self.file = file
        guard let file, let data = FileManager.default.contents(atPath: file) else { return }
        state.withLock { state in
            do { state.needs = try Self.needs(data) } catch {
                state.fault = "\(file) has other content and is not overwritten."
                state.isForeign = true
            }
        }
    }

    private static func needs(_ data: Data) throws -> IndexNeeds {
        try JSONDecoder().decode(IndexNeeds.self, from: data)
    }

    package var needs: IndexNeeds { state.withLock(\.needs) }

    /// The reason why ``file`` could not be written; nil if it could.
    public var fault: String? { state.withLock(\.fault) }

    /// The contents of ``file``, which `tidemark indexes` reads.
    public var json: Data { Self.json(state.withLock(\.needs)) }

    /// The composite indexes, and settings of single fields, that a database without any would
    /// need, in a line each: `Collection messages (room ASC, sentAt DESC, __name__ DESC)`.
    public var required: [String] {
        IndexAdvice(state.withLock(\.needs), in: IndexCatalog()).missing.map(\.sentence)
    }

    func note(_ query: QueryValue, _ aggregations: [Aggregation] = []) {
        state.withLock { state in
            guard state.needs.note(query, aggregations), let file, !state.isForeign else { return }
            do {
                try Self.json(state.needs).write(
                    to: URL(fileURLWithPath: file), options: .atomic)
                state.fault = nil
            } catch { state.fault = "\(file) cannot be written." }
        }
    }

    private static func json(_ needs: IndexNeeds) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // The needs consist of texts and whole numbers, which all have a JSON form.
        return (try? encoder.encode(needs)).map { $0 + Data("\n".utf8) } ?? Data()
    }
}

extension FirestoreSettings {
    /// Collects the indexes of all queries; nil by default.
    public var indexAdvisor: IndexAdvisor? {
        get { values.indexAdvisor }
        set { set(\.indexAdvisor, newValue) }
    }
}
