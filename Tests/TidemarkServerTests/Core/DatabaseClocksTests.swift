import Synchronization
import Testing
import TidemarkModel

@testable import TidemarkServer

struct DatabaseClocksTests {
    private static let database = try! DatabaseID(project: "p")

    /// A machine whose time is set by hand, in microseconds.
    private final class Machine: Sendable {
        let time = Mutex<Int64>(1_000)
        func set(_ value: Int64) { time.withLock { $0 = value } }
    }

    private func clocks(
        _ machine: Machine, _ state: DatabaseState = DatabaseState(), incarnation: Int64 = 7
    ) -> DatabaseClocks {
        DatabaseClocks(
            [Self.database: state], incarnation: incarnation, history: .microseconds(100),
            machine: { Timestamp(microseconds: machine.time.withLock { $0 }) })
    }

    private func at(_ microseconds: Int64) -> Timestamp { Timestamp(microseconds: microseconds) }

    @Test func `a reader's time does not go back with the machine`() {
        let machine = Machine()
        let clocks = clocks(machine)
        #expect(clocks.takeReadTime(Self.database) == at(1_000))
        machine.set(900)
        #expect(clocks.takeReadTime(Self.database) == at(1_000))
        machine.set(1_100)
        #expect(clocks.takeReadTime(Self.database) == at(1_100))
    }

    @Test func `a commit comes after what readers were told`() {
        let clocks = clocks(Machine())
        let told = clocks.takeReadTime(Self.database)
        var state = clocks.states[Self.database]!
        #expect(state.takeCommitTime(now: at(500)) == told.microseconds + 1)
        #expect(clocks.states[Self.database]!.lastCommit == 0, "a copy, until it is adopted")
        clocks.adopt(state, of: Self.database)
        #expect(clocks.resumeToken(Self.database, readTime: told).position == 1_001)
    }

    @Test func `a past time is read as far as the log goes, and a future one not at all`() throws {
        let clocks = clocks(Machine(), DatabaseState(rowID: 1, lastCommit: 990, logStart: 950))
        try clocks.check(readTime: at(950), Self.database)
        try clocks.check(readTime: at(1_000), Self.database)
        #expect(throws: RPCStatus.self) { try clocks.check(readTime: at(949), Self.database) }
        #expect(throws: RPCStatus.self) { try clocks.check(readTime: at(1_001), Self.database) }
        #expect(clocks.isKept(at(950), Self.database))
        #expect(!clocks.isKept(at(949), Self.database))
    }

    @Test func `what is older than the history is not read, whatever the log has`() {
        let clocks = clocks(Machine())
        #expect(throws: RPCStatus.self) { try clocks.check(readTime: at(899), Self.database) }
        #expect(throws: Never.self) { try clocks.check(readTime: at(900), Self.database) }
    }

    @Test func `the clock can be moved, but not to before the last commit`() {
        let clocks = clocks(Machine(), DatabaseState(rowID: 1, lastCommit: 990, lastSeen: 999))
        #expect(clocks.set(at(989))?.code == .failedPrecondition)
        #expect(clocks.now == at(1_000))
        #expect(clocks.set(at(2_000)) == nil)
        #expect(clocks.takeReadTime(Self.database) == at(2_000))
        #expect(clocks.set(nil) == nil)
        #expect(clocks.takeReadTime(Self.database) == at(1_000), "readers go back with it")
    }

    @Test func `a snapshot keeps times and the clock, and the data gets a new identity`() {
        let clocks = clocks(Machine(), DatabaseState(rowID: 1, lastCommit: 990))
        let saved = clocks.saved
        let before = clocks.resumeToken(Self.database, readTime: clocks.now)
        #expect(clocks.set(at(5_000)) == nil)
        clocks.adopt(DatabaseState(rowID: 1, lastCommit: 4_000), of: Self.database)
        clocks.restore(saved, incarnation: 8)
        #expect(clocks.now == at(1_000))
        #expect(clocks.states[Self.database]?.lastCommit == 990)
        let after = clocks.resumeToken(Self.database, readTime: clocks.now)
        #expect((before.incarnation, after.incarnation) == (7, 8))
    }
}
