import Testing
import TestSupport
import TidemarkModel
import TidemarkStore

/// Reads the data that another process would find: a copy of the file and its log, while the owner
/// is alive.
@Suite(.ownThread) struct BufferedLogTests {
    private struct Refused: Error {}
    private let folder = TemporaryFolder()

    private func onDisk() throws -> [DocumentPath: StoredDocument] {
        let copy = try StoreCopy(of: folder.path("store.sqlite"))
        let store = try DocumentStore(.file(copy.path))
        return try store.read { transaction in
            #expect(try transaction.rows("PRAGMA integrity_check").map { try $0.text(0) } == ["ok"])
            let found = try transaction.documents(of: testDatabase).run(
                Query(collectionID: "rooms")
            ).documents
            return Dictionary(uniqueKeysWithValues: found.map { ($0.path, $0) })
        }
    }

    /// The memory holds few pages, so some pages are written to the log before their transaction
    /// ends, and again after another change. The log is short, so it starts again from its
    /// beginning.
    @Test(arguments: 0..<4)
    func `what was committed is on disk when the call returns, and nothing else`(
        seed: UInt64
    ) throws {
        var dice = Dice(seed: seed)
        let tuning = DocumentStore.Tuning(
            logPages: 300, longestLog: 600, cacheKibibytes: dice.pick([40, 200, 8_000]))
        let store = try DocumentStore(
            .file(folder.path("store.sqlite")), indexBuilding: .onRequest, tuning: tuning)
        var committed: [DocumentPath: StoredDocument] = [:]
        for round in 0..<25 {
            let documents = (0..<dice.pick([1, 2, 40, 300])).map { _ in
                found(
                    "rooms/\(dice.roll(500))",
                    ["n": .bytes([UInt8](repeating: UInt8(round), count: dice.roll(1_500)))],
                    at: Int64(round + 1))
            }
            let fails = dice.chance(25)
            do {
                try store.write(dice.chance(20) ? .disk : .process) { transaction in
                    let table = transaction.documents(of: testDatabase)
                    for document in documents { try table.put(document) }
                    if fails { throw Refused() }
                }
                for document in documents { committed[document.path] = document }
            } catch is Refused {}
            #expect(try onDisk() == committed, "round \(round)")
            if dice.chance(10) { store.moveLog() }
        }
    }
}
