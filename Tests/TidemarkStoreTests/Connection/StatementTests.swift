import Testing

@testable import TidemarkStore

/// Compiled statements are kept for reuse, up to a limit.
struct StatementTests {
    private let folder = TemporaryFolder()

    @Test func `a text is compiled once, unless two are in use`() throws {
        let store = try DocumentStore(.file(folder.path("store.sqlite")))
        try store.read { transaction in
            let first = try transaction.connection.statement(text: "SELECT 1")
            let second = try transaction.connection.statement(text: "SELECT 1")
            #expect(first.handle != second.handle)
            first.release()
            second.release()
            for _ in 0..<3 {
                let again = try transaction.connection.statement(text: "SELECT 1")
                #expect(again.handle == second.handle)
                again.release()
            }
        }
        try store.close()
    }

    /// A file cannot be closed while a compiled statement exists.
    @Test func `texts beyond the bound are compiled again, and one in use goes when it is done`()
        throws
    {
        let store = try DocumentStore(.file(folder.path("store.sqlite")))
        try store.read { transaction in
            let inUse = try transaction.connection.statement(text: "SELECT -1")
            for round in 0..<2 {
                for number in 0..<600 {
                    let rows = try transaction.rows(
                        "SELECT \(number), 'of the same length and end'")
                    #expect(try rows.first?.integer(0) == Int64(number), "in round \(round)")
                }
            }
            #expect(try inUse.step())
            #expect(inUse.integer(0) == -1)
            inUse.release()
            #expect(try transaction.rows("SELECT -1").first?.integer(0) == -1)
        }
        try store.close()
    }
}
