import Testing
import TidemarkModel
import TidemarkTesting

@testable import TidemarkSync

/// The attempts of a transaction: what they commit, and what may follow a commit whose response was
/// lost.
struct TransactionTests {
    private let lost = CommitFailure(.server(RPCStatus(.unavailable, "gone")), mayBeApplied: true)
    private let refused = CommitFailure(
        .server(RPCStatus(.failedPrecondition, "changed")), mayBeApplied: false)

    private func number(_ value: Int64) -> MapValue { ["n": .integer(value)] }

    /// Reads `rooms/a` at a version, and replaces the document.
    private func counting(
        _ attempts: inout TransactionAttempts, version: Int64, to value: Int64
    ) throws -> TransactionAttempt {
        var attempt = attempts.begin()
        try attempt.read(path("rooms/a"), doc("rooms/a", version, number(version)))
        try attempt.write(set("rooms/a", number(value)))
        _ = try attempt.take()
        return attempt
    }

    @Test func `what was read is insisted on, written or not`() throws {
        var attempts = TransactionAttempts(limit: 5)
        var attempt = attempts.begin()
        try attempt.read(path("rooms/a"), doc("rooms/a", 1))
        try attempt.read(path("rooms/b"), nil)
        try attempt.read(path("rooms/c"), doc("rooms/c", 3))
        try attempt.write(set("rooms/a", number(1)))
        try attempt.write(set("rooms/a", number(2)))
        try attempt.write(set("rooms/d", number(1)))
        let mutations = try attempt.take()
        #expect(
            mutations.map(\.path.id) == ["a", "a", "d", "b", "c"]
                && mutations.map(\.precondition) == [
                    .updateTime(at(1)), .none, .none, .exists(false), .updateTime(at(3)),
                ])
        #expect(mutations.suffix(2).allSatisfy { $0.operation == .verify })
        #expect(throws: SyncError.self) { try attempt.checkRunning() }
    }

    @Test func `a lost answer is followed by an attempt that excludes the lost one`() throws {
        var attempts = TransactionAttempts(limit: 5)
        let first = try counting(&attempts, version: 1, to: 2)
        attempts.commitFailed(lost, of: first)
        #expect(attempts.mayFollow(first, failedWith: .unavailable))
        let second = try counting(&attempts, version: 1, to: 2)
        attempts.commitFailed(refused, of: second)
        #expect(attempts.mayFollow(second, failedWith: .failedPrecondition))
        // The document has changed, perhaps by the lost commit.
        var third = attempts.begin()
        let changed = doc("rooms/a", 9, number(2))
        let error = #expect(throws: SyncError.self) { try third.read(path("rooms/a"), changed) }
        #expect(!attempts.mayFollow(third, failedWith: .unavailable))
        #expect(attempts.errorInDoubt == error)
        guard case .server(let status)? = error, status.code == .unavailable else {
            throw Unexpected()
        }
        #expect(status.message.hasPrefix("The answer to the commit was lost"))
    }

    @Test func `where nothing excludes the lost commit, nothing follows it`() throws {
        let document = doc("rooms/a", 1, number(1))
        let bodies: [@Sendable (inout TransactionAttempt) throws -> Void] = [
            // The first body reads nothing. The second changes no document that it read. The third
            // writes the same fields again.
            { try $0.write(set("rooms/a", ["n": .integer(2)])) },
            {
                try $0.read(path("rooms/a"), document)
                try $0.write(set("rooms/b", ["n": .integer(2)]))
            },
            {
                try $0.read(path("rooms/a"), document)
                try $0.write(set("rooms/a", ["n": .integer(1)]))
            },
        ]
        for body in bodies {
            var attempts = TransactionAttempts(limit: 5)
            var attempt = attempts.begin()
            try body(&attempt)
            _ = try attempt.take()
            attempts.commitFailed(lost, of: attempt)
            #expect(!attempts.mayFollow(attempt, failedWith: .unavailable))
        }
    }

    @Test func `an attempt that leaves out what would exclude the lost one commits nothing`() throws
    {
        var attempts = TransactionAttempts(limit: 5)
        attempts.commitFailed(lost, of: try counting(&attempts, version: 1, to: 2))
        var idle = attempts.begin()
        #expect(throws: SyncError.self) { try idle.take() }
        var other = attempts.begin()
        try other.read(path("rooms/b"), nil)
        try other.write(set("rooms/b", number(1)))
        #expect(throws: SyncError.self) { try other.take() }
    }

    @Test(arguments: [
        (RPCStatus.Code.unavailable, true), (.internal, true), (.deadlineExceeded, true),
        (.aborted, false), (.failedPrecondition, false), (.permissionDenied, false),
    ])
    func `a commit's end tells whether it may have been applied`(
        code: RPCStatus.Code, mayBeApplied: Bool
    ) throws {
        let world = try Harness()
        let ends = Events<Result<Timestamp, CommitFailure>>()
        var insisting = set("rooms/a", [:])
        insisting.precondition = .updateTime(at(1))
        // The engine does not retry this commit, because it contains an increment.
        let sum = Mutation(
            path: path("rooms/b"), .patch([:], mask: []),
            transforms: [FieldTransform(field("n"), .increment(.integer(1)))])
        world.engine.session.commit([insisting, sum]) { ends.record($0) }
        world.run()
        try #require(world.transport.calls.last).end(RPCStatus(code, "no"))
        world.run()
        guard case .failure(let failure)? = ends.all.first else { throw Unexpected() }
        #expect(failure.mayBeApplied == mayBeApplied)
    }

    @Test func `a refusal after an attempt without an answer tells nothing`() throws {
        let world = try Harness()
        let ends = Events<Result<Timestamp, CommitFailure>>()
        var insisting = set("rooms/a", [:])
        insisting.precondition = .updateTime(at(1))
        world.engine.session.commit([insisting]) { ends.record($0) }
        world.run()
        try #require(world.transport.calls.last).end(RPCStatus(.unavailable, "gone"))
        world.run()
        world.scheduler.advance(by: .seconds(5))
        #expect(world.transport.calls.count == 2)
        world.transport.calls[1].end(RPCStatus(.failedPrecondition, "changed"))
        world.run()
        guard case .failure(let failure)? = ends.all.first else { throw Unexpected() }
        #expect(failure.mayBeApplied)
    }

    @Test(arguments: [false, true])
    func `what one user has read is not committed as the next one's`(sharesCache: Bool) throws {
        let folder = TemporaryFolder()
        let world = try Harness(
            cacheFile: folder.file("cache.sqlite"), user: "ann", sharesCache: sharesCache)
        let session = world.engine.session
        world.engine.changeUser(to: "ben") { _ in }
        world.run()
        let ends = Events<Result<Timestamp, CommitFailure>>()
        session.commit([set("rooms/a", [:])]) { ends.record($0) }
        session.lookUp([path("rooms/a")]) { _ in }
        world.run()
        #expect(world.transport.calls.isEmpty)
        #expect(ends.all == [.failure(CommitFailure(.userChanged, mayBeApplied: false))])
    }
}
