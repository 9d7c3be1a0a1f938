import Testing

@testable import Tidemark

struct `Row changes` {
    private static func row(_ id: Int, _ version: Int) -> ViewDocument {
        ViewDocument(
            Document(
                path: DocumentPath(unchecked: "c/\(id)"), fields: ["n": .integer(Int64(version))],
                createTime: .epoch, updateTime: Timestamp(seconds: Int64(version), nanoseconds: 0)))
    }

    /// Returns rows in the order of their versions, as a query orders rows by their fields.
    private static func rows(_ random: inout SeededRandom) -> [ViewDocument] {
        (0..<12).filter { _ in Bool.random(using: &random) }
            .map { row($0, Int.random(in: 0..<30, using: &random)) }
            .sorted { ($0.document.updateTime, $0.path) < ($1.document.updateTime, $1.path) }
    }

    @Test(arguments: UInt64(0)..<200)
    func `lead from any rows to any others, and name nothing that did not change`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let old = Self.rows(&random)
        var new = Self.rows(&random)
        // Half of the rows do not change.
        new.removeAll { row in old.contains { $0.path == row.path } && Bool.random(using: &random) }
        for row in old where !new.contains(where: { $0.path == row.path }) {
            if Bool.random(using: &random) { new.append(row) }
        }
        new.sort { ($0.document.updateTime, $0.path) < ($1.document.updateTime, $1.path) }

        var rows = old.map(\.path)
        let changes = RowDifference.between(old, new, includeMetadata: false)
        for change in changes {
            if let index = change.oldIndex {
                #expect(rows.remove(at: index) == change.document.path, "seed \(seed)")
            }
            if let index = change.newIndex { rows.insert(change.document.path, at: index) }
        }
        #expect(rows == new.map(\.path), "seed \(seed)")
        for change in changes where change.type == .modified {
            #expect(!old.contains(change.document), "seed \(seed): it did not change")
        }
    }
}
