import Testing
import TidemarkModel

@testable import TidemarkServer

/// The lock table alone, without a server and a store.
struct LockTableTests {
    private var table = LockTable()
    private static let database = DatabaseID.test

    private mutating func read(
        _ id: UInt8, _ paths: String..., again: LockTicket? = nil
    ) -> LockTable.Decision {
        table.request(
            .read(LockedReading(documents: paths.map(path))), in: Self.database,
            by: .transaction([id], age: LockAge(first: UInt64(id), own: UInt64(id))), again: again)
    }

    /// Requests a write for the transaction `id`. If `id` is nil, the write is a plain write.
    private mutating func write(
        _ id: UInt8?, _ paths: String..., again: LockTicket? = nil
    ) -> LockTable.Decision {
        let changes = paths.map { LockedChange(path: path($0), before: nil, after: [:]) }
        let claimant = id.map {
            LockClaimant.transaction([$0], age: LockAge(first: UInt64($0), own: UInt64($0)))
        }
        return table.request(
            .write(changes), in: Self.database, by: claimant ?? .plain, again: again)
    }

    @Test mutating func `nothing locked, nothing known`() {
        #expect(!table.concerns(Self.database))
        #expect(write(nil, "c/a") == .granted)
        #expect(!table.concerns(Self.database))
        #expect(read(1, "c/a") == .granted)
        #expect(table.concerns(Self.database))
        table.end([1])
        #expect(!table.concerns(Self.database))
        #expect(table.owners.isEmpty)
    }

    @Test mutating func `reads share, writes wait for each of them`() {
        #expect(read(1, "c/a") == .granted)
        #expect(read(2, "c/a") == .granted)
        #expect(write(nil, "c/a") == .waits(1))
        table.end([1])
        #expect(!table.hasReady(writes: true))
        table.end([2])
        #expect(table.takeReady(writes: true) == [1])
        #expect(write(nil, "c/a", again: 1) == .granted)
        #expect(!table.concerns(Self.database))
    }

    @Test mutating func `a batch of readers goes together, the writer behind them waits`() {
        #expect(read(1, "c/a") == .granted)
        #expect(write(nil, "c/a") == .waits(1))
        for id in UInt8(2)...4 { #expect(read(id, "c/a") == .waits(UInt64(id))) }
        #expect(write(nil, "c/a") == .waits(5))
        table.end([1])
        #expect(table.takeReady(writes: true) == [1])
        #expect(!table.hasReady(writes: false), "the write first")
        #expect(write(nil, "c/a", again: 1) == .granted)
        #expect(table.takeReady(writes: false) == [2, 3, 4])
        for id in UInt8(2)...4 { #expect(read(id, "c/a", again: UInt64(id)) == .granted) }
        for id in UInt8(2)...4 {
            #expect(!table.hasReady(writes: true))
            table.end([id])
        }
        #expect(table.takeReady(writes: true) == [5])
        table.cancel(5)
        #expect(!table.concerns(Self.database))
    }

    @Test mutating func `a waiter that leaves lets those behind it go`() {
        #expect(read(1, "c/a") == .granted)
        #expect(write(nil, "c/a", "c/b") == .waits(1))
        #expect(write(nil, "c/b") == .waits(2))
        #expect(write(nil, "c/b") == .waits(3))
        table.cancel(1)
        #expect(table.takeReady(writes: true) == [2])
        #expect(write(nil, "c/b", again: 2) == .granted)
        #expect(table.takeReady(writes: true) == [3])
        #expect(write(nil, "c/b", again: 3) == .granted)
    }

    @Test mutating func `a waiter keeps its place when it must wait again`() {
        #expect(read(1, "c/a") == .granted)
        #expect(write(nil, "c/a") == .waits(1))
        #expect(write(nil, "c/a") == .waits(2))
        table.end([1])
        #expect(table.takeReady(writes: true) == [1])
        // The waiter now writes another document as well, which is locked too.
        #expect(read(3, "c/x") == .granted)
        #expect(write(nil, "c/a", "c/x", again: 1) == .waits(1))
        #expect(table.takeReady(writes: true).isEmpty, "the second stays behind the first")
        table.end([3])
        #expect(table.takeReady(writes: true) == [1])
    }

    @Test mutating func `the younger of two that wait for each other ends`() {
        for id in UInt8(1)...2 { #expect(read(id, "c/a") == .granted) }
        #expect(write(2, "c/a") == .waits(1))
        #expect(write(1, "c/a") == .waits(2))
        #expect(table.takeVictims() == [LockTable.Ended(transaction: [2], tickets: [1])])
        #expect(table.takeReady(writes: true) == [2])
        #expect(write(1, "c/a", again: 2) == .granted)
    }

    @Test mutating func `the younger that comes last is told at once`() {
        for id in UInt8(1)...2 { #expect(read(id, "c/a") == .granted) }
        #expect(write(1, "c/a") == .waits(1))
        #expect(write(2, "c/a") == .deadlock)
        #expect(table.takeReady(writes: true) == [1])
    }

    @Test mutating func `an end that has not happened gives everything back`() throws {
        #expect(read(1, "c/a") == .granted)
        #expect(write(nil, "c/a") == .waits(1))
        let ended = table.end([1])
        let owner = try #require(ended)
        #expect(table.hasReady(writes: true))
        table.restore([1], owner)
        #expect(!table.hasReady(writes: true))
        #expect(write(nil, "c/a") == .waits(2))
        table.end([1])
        #expect(table.takeReady(writes: true) == [1])
    }

    @Test mutating func `so many wait and no more`() {
        #expect(read(1, "c/a") == .granted)
        for number in 1...LockTable.capacity {
            #expect(write(nil, "c/a") == .waits(UInt64(number)))
        }
        #expect(write(nil, "c/a") == .full)
        #expect(write(nil, "c/b") == .granted)
        table.cancel(5)
        #expect(write(nil, "c/a") == .waits(UInt64(LockTable.capacity + 1)))
    }
}

extension DatabaseID {
    static var test: DatabaseID {
        guard let id = try? DatabaseID(project: "test") else { fatalError("a valid name") }
        return id
    }
}
