public import Foundation
import Synchronization

/// Collects which indexes an app's queries need in production, as they run.
///
/// Set ``FirestoreSettings/indexAdvisor`` in the app's tests and run them against a local server.
/// Then `tidemark indexes` makes `firestore.indexes.json` from the file, or checks the existing
/// one:
///
/// ```swift
/// settings.indexAdvisor = IndexAdvisor(file: "index-needs.json")
/// ```
/// ```
/// tidemark indexes index-needs.json --file firestore.indexes.json --check
/// ```
///
/// It sees every query that goes to the server, also those of feeds, pagers and listeners. It keeps
/// the names of collections and fields, and no values. Costs no reads. Thread-safe; several clients
/// may share one.
public final class IndexAdvisor: Sendable {
    /// The file with the needed indexes; nil for none.
    public let file: String?
    private let state = Mutex(State())

    private struct State {
        var needs = IndexNeeds()
        /// Why the file could not be written the last time.
        var fault: String?
    }

    /// - Parameter file: Written each time a query needs an index that is not in it yet, so that a
    ///   kill loses nothing. What it held before stays, so that several runs add up. Nil keeps the
    ///   needs in memory only.
    public init(file: String? = nil) {
        self.file = file
        guard let file, let data = FileManager.default.contents(atPath: file) else { return }
        state.withLock { state in
            do { state.needs = try Self.needs(data) } catch {
                state.fault = "\(file) holds something else, and is not written over."
            }
        }
    }

    private static func needs(_ data: Data) throws -> IndexNeeds {
        try JSONDecoder().decode(IndexNeeds.self, from: data)
    }

    package var needs: IndexNeeds { state.withLock(\.needs) }

    /// Why ``file`` could not be written; nil if it could.
    public var fault: String? { state.withLock(\.fault) }

    /// What ``file`` holds, and `tidemark indexes` reads.
    public var json: Data { Self.json(state.withLock(\.needs)) }

    /// The composite indexes, and settings of single fields, that a database without any would
    /// need, in a line each: `Collection messages (room ASC, sentAt DESC, __name__ DESC)`.
    public var required: [String] {
        IndexAdvice(state.withLock(\.needs), in: IndexCatalog()).missing.map(\.sentence)
    }

    func note(_ query: QueryValue, _ aggregations: [Aggregation] = []) {
        state.withLock { state in
            guard state.needs.note(query, aggregations), let file, !isForeign(state) else { return }
            do {
                try Self.json(state.needs).write(
                    to: URL(fileURLWithPath: file), options: .atomic)
                state.fault = nil
            } catch { state.fault = "\(file) cannot be written." }
        }
    }

    /// Whether the file was somebody else's from the start.
    private func isForeign(_ state: State) -> Bool { state.fault?.hasSuffix("over.") ?? false }

    private static func json(_ needs: IndexNeeds) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // It holds texts and whole numbers, which all have a JSON form.
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
