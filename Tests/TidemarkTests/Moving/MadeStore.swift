import Foundation

@testable import Tidemark

/// A store that LevelDB wrote, and its contents. `Tests/FirebaseStores/make_stores.py` makes them.
struct MadeStore: Sendable, CustomStringConvertible {
    struct Row: Decodable, Hashable, Sendable {
        let user: String?
        let number: Int
        let mark: String

        init(_ batch: FirebaseStore.Batch) {
            (user, number, mark) = (batch.user, batch.number, batch.mark)
        }
    }

    private struct Contents: Decodable {
        let batches: [Row]
        let written: [String]
        let torn: Bool
        let error: String?
    }

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("FirebaseStores")

    static let all: [MadeStore] = {
        let data = try! Data(contentsOf: root.appendingPathComponent("expected.json"))
        let all = try! JSONDecoder().decode([String: Contents].self, from: data)
        return all.map { MadeStore(name: $0, contents: $1) }.sorted { $0.name < $1.name }
    }()

    /// The stores that can be read.
    static let readable = all.filter { $0.contents.error == nil }

    static func named(_ name: String) -> MadeStore { all.first { $0.name == name }! }

    let name: String
    private let contents: Contents

    var description: String { name }
    var folder: URL { Self.root.appendingPathComponent(name) }
    /// The batches that wait to be sent.
    var batches: [Row] { contents.batches }
    /// The marks of all batches that were ever written.
    var written: Set<String> { Set(contents.written) }
    var isTorn: Bool { contents.torn }

    func read() throws(FirebaseStoreError) -> FirebaseStore { try FirebaseStore(folder: folder) }
}

extension FirebaseStore {
    var rows: Set<MadeStore.Row> { Set(batches.map(MadeStore.Row.init)) }
}

/// Returns the files of a folder by name.
func files(in folder: URL) throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try names.reduce(into: [:]) { files, name in
        files[name] = try Data(contentsOf: folder.appendingPathComponent(name))
    }
}
