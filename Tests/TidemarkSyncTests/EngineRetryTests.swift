import Testing
import TidemarkModel
import TidemarkResilience
import TidemarkTesting

@testable import TidemarkSync

/// The engine retries calls by Firestore's tables, within the time that remains.
struct EngineRetryTests {
    private let unavailable = RPCStatus(.unavailable, "gone")

    private func found(_ world: Harness, _ index: Int) {
        world.transport.calls[index].reply(
            .batchGetDocuments(BatchGetResult(row: .found(doc("rooms/a", 10)), readTime: at(20))))
        world.run()
    }

    private func commit(
        _ world: Harness, _ mutation: Mutation
    ) -> Events<Result<Timestamp, SyncError>> {
        let events = Events<Result<Timestamp, SyncError>>()
        world.engine.session.commit([mutation]) { events.record($0.mapError(\.error)) }
        world.run()
        return events
    }

    private func fail(_ world: Harness, _ status: RPCStatus, after: Duration = .seconds(1)) {
        world.transport.calls.last!.end(status)
        world.run()
        world.scheduler.advance(by: after)
    }

    @Test func `the tables are Firestore's`() {
        let reads: Set<RPCStatus.Code> = [
            .resourceExhausted, .unavailable, .internal, .deadlineExceeded,
        ]
        #expect(RetryTable.reads.codes == reads)
        #expect(RetryTable.writes.codes == [.resourceExhausted, .unavailable])
        let now = at(1_700_000_000_000_000)
        for code in RPCStatus.Code.allCases where code != .ok {
            for table in [RetryTable.reads, .writes] {
                let kind = table.failure(RPCStatus(code, ""), now: now).kind
                switch code {
                case .unauthenticated: #expect(kind == .authentication)
                case .cancelled: #expect(kind == .cancelled)
                default:
                    let mayPass = kind == .transient || kind == .throttled
                    #expect(mayPass == table.codes.contains(code), "\(code)")
                }
            }
        }
    }

    @Test(arguments: [RPCStatus.Code.unavailable, .internal, .deadlineExceeded])
    func `a read that failed is made again, and succeeds`(code: RPCStatus.Code) throws {
        let world = try Harness()
        let read = world.read(path("rooms/a"), source: .server, deadline: .seconds(30))
        for attempt in 1...3 {
            #expect(world.transport.calls.count == attempt)
            fail(world, RPCStatus(code, "not now"))
            #expect(read.all.isEmpty)
        }
        found(world, 3)
        #expect(try read.all[0].get().ids == ["a"])
    }

    @Test func `it is given up after five attempts, and the error says what was tried`() throws {
        let world = try Harness()
        let read = world.read(path("rooms/a"), source: .server, deadline: .seconds(30))
        for _ in 0..<5 { fail(world, unavailable) }
        #expect(world.transport.calls.count == 5)
        guard case .failure(.server(let status))? = read.all.first else {
            Issue.record("\(read.all)")
            return
        }
        #expect(status == unavailable)
        #expect(status.attempts.attempts.map(\.number) == [1, 2, 3, 4, 5])
        #expect(status.attempts.attempts.allSatisfy { $0.outcome == "transient" })
        let begun = status.attempts.attempts.map(\.began)
        #expect(begun.first == .zero && begun == begun.sorted() && begun.last! > .milliseconds(200))
    }

    @Test func `no wait begins that the deadline would not outlast`() throws {
        let world = try Harness()
        let read = world.read(path("rooms/a"), source: .server, deadline: .milliseconds(40))
        world.transport.calls[0].end(unavailable)
        world.run()
        #expect(read.all == [.failure(.server(unavailable))])
    }

    @Test func `a call that is out of time is cancelled, and not only left`() throws {
        let world = try Harness()
        let read = world.read(path("rooms/a"), source: .server, deadline: .seconds(3))
        world.transport.calls[0].end(unavailable)
        world.run()
        world.scheduler.advance(by: .seconds(1))
        #expect(world.transport.calls.count == 2 && !world.transport.calls[1].isEnded)
        let timeout = try #require(world.transport.calls[1].context.timeout)
        #expect(timeout < .seconds(3), "the last attempt gets what is left")
        world.scheduler.advance(by: .seconds(2))
        #expect(world.transport.calls[1].isEnded && read.all.count == 1)
        world.scheduler.advance(by: .seconds(60))
        #expect(world.transport.calls.count == 2)
    }

    @Test func `while the network is turned off a call costs no attempt`() throws {
        let world = try Harness()
        world.engine.setNetworkEnabled(false) {}
        world.run()
        for _ in 0..<40 { _ = world.read(path("rooms/a"), source: .server) }
        #expect(world.transport.calls.isEmpty)
        world.engine.setNetworkEnabled(true) {}
        world.run()
        let read = world.read(path("rooms/a"), source: .server, deadline: .seconds(30))
        for _ in 0..<4 { fail(world, unavailable) }
        found(world, 4)
        #expect(try read.all[0].get().ids == ["a"], "it had all of its own")
    }

    @Test func `observers hear of each attempt that failed, and what comes next`() throws {
        let world = try Harness()
        let told = Events<ReadEvent>()
        let handle = world.engine.observeReads { told.record($0) }
        world.run()
        let read = world.read(path("rooms/a"), source: .server, deadline: .seconds(30))
        for _ in 0..<2 { fail(world, unavailable) }
        fail(world, RPCStatus(.permissionDenied, "no"))
        let attempts = told.all.compactMap { event -> (CallAttempt, Duration?)? in
            if case .attemptFailed(let attempt, let delay) = event { (attempt, delay) } else { nil }
        }
        #expect(attempts.map(\.0.outcome) == ["transient", "transient", "permanent"])
        // The delays are half of 0.1 s and half of 0.13 s, because the random number is 0.5.
        #expect(attempts.map(\.1) == [.milliseconds(50), .milliseconds(65), nil])
        #expect(attempts.map(\.0.number) == [1, 2, 3])
        guard case .failure(.server(let status))? = read.all.first else {
            Issue.record("\(read.all)")
            return
        }
        #expect(status.attempts.attempts == attempts.map(\.0))
        _ = world.read(path("rooms/b"), source: .server, deadline: .seconds(3))
        world.scheduler.advance(by: .seconds(3))
        guard case .attemptFailed(let left, nil)? = told.all.last else {
            Issue.record("\(told.all)")
            return
        }
        #expect(left.number == 1 && left.outcome == nil, "cut off when no time was left")
        handle.cancel()
    }

    @Test func `what is refused for good is not asked again`() throws {
        let world = try Harness()
        let read = world.read(path("rooms/a"), source: .server)
        let status = RPCStatus(.permissionDenied, "no")
        fail(world, status)
        #expect(read.all == [.failure(.server(status))])
        #expect(world.transport.calls.count == 1)
    }

    @Test func `the server's word wins over the delays`() throws {
        let world = try Harness()
        var status = unavailable
        status.trailers["grpc-retry-pushback-ms"] = "5000"
        let read = world.read(path("rooms/a"), source: .server, deadline: .seconds(30))
        fail(world, status, after: .milliseconds(4_900))
        #expect(world.transport.calls.count == 1)
        world.scheduler.advance(by: .milliseconds(200))
        #expect(world.transport.calls.count == 2)
        fail(
            world, RPCStatus(.unavailable, "", details: [.retryAfter(.seconds(8))]),
            after: .milliseconds(7_900))
        #expect(world.transport.calls.count == 2)
        world.scheduler.advance(by: .milliseconds(200))
        #expect(world.transport.calls.count == 3)
        status.trailers["grpc-retry-pushback-ms"] = "-1"
        fail(world, status)
        #expect(read.all.count == 1 && world.transport.calls.count == 3)
    }

    @Test func `a quota that is used up is not asked again before its day ends`() throws {
        let world = try Harness()
        let status = RPCStatus(.resourceExhausted, "Quota exceeded.")
        let read = world.read(path("rooms/a"), source: .server, deadline: .seconds(60))
        fail(world, status)
        #expect(read.all == [.failure(.server(status))])
        let failure = RetryTable.reads.failure(status, now: at(1_700_000_000_000_000))
        // The time is 22:13 UTC. Midnight in California is at 08:00 UTC.
        #expect(failure.hint == .after(.seconds(9 * 3_600 + 46 * 60 + 40)))
    }

    @Test func `a read that the cache can answer does not wait for a network that is gone`() throws
    {
        let world = try Harness()
        _ = world.read(path("rooms/a"))
        found(world, 0)
        let read = world.read(path("rooms/a"))
        world.transport.calls[1].end(unavailable)
        world.run()
        #expect(try read.all[0].get().ids == ["a"])
        // While a stream is open, the failure concerns this call alone, so the read is retried.
        _ = world.listen(rooms())
        world.answer(world.added[0].id, [], at: 30)
        let second = world.read(path("rooms/b"))
        fail(world, unavailable)
        #expect(second.all.isEmpty)
        world.transport.calls.last!.reply(
            .batchGetDocuments(BatchGetResult(row: .found(doc("rooms/b", 40)), readTime: at(50))))
        world.run()
        #expect(try second.all[0].get().freshness == .fresh(readTime: at(50)))
    }

    @Test func `a commit is sent again only when twice is once`() throws {
        let world = try Harness()
        let sum = Mutation(
            path: path("rooms/a"), .patch([:], mask: []),
            transforms: [FieldTransform(field("n"), .increment(.integer(1)))])
        let increment = commit(world, sum)
        fail(world, unavailable)
        #expect(increment.all.count == 1, "it may have been applied")
        // The server refused this commit because of a quota, so it was certainly not applied.
        let refused = commit(world, sum)
        fail(world, RPCStatus(.resourceExhausted, ""), after: .seconds(31))
        #expect(refused.all.isEmpty && world.transport.calls.count == 3)
        let plain = commit(world, set("rooms/b", [:]))
        fail(world, unavailable)
        #expect(plain.all.isEmpty && world.transport.calls.count == 5)
        let broken = commit(world, set("rooms/c", [:]))
        fail(world, RPCStatus(.internal, ""))
        #expect(broken.all.count == 1, "not in the table of writes")
    }

    @Test func `a server in trouble is not asked five times as much`() throws {
        let world = try Harness()
        for _ in 0..<40 {
            _ = world.read(path("rooms/a"), source: .server, deadline: .seconds(60))
        }
        for _ in 0..<400 {
            for call in world.transport.calls where !call.isEnded { call.end(unavailable) }
            world.scheduler.advance(by: .milliseconds(10))
        }
        // The budget allows retries for a fifth of the 40 calls, and one a second for ten seconds.
        #expect((48...70).contains(world.transport.calls.count), "\(world.transport.calls.count)")
    }

    @Test func `what is not tried again takes nothing from what is`() throws {
        let world = try Harness()
        let sum = Mutation(
            path: path("rooms/a"), .patch([:], mask: []),
            transforms: [FieldTransform(field("n"), .increment(.integer(1)))])
        for _ in 0..<40 {
            _ = commit(world, sum)
            world.transport.calls.last!.end(unavailable)
            world.run()
        }
        let read = world.read(path("rooms/a"), source: .server, deadline: .seconds(30))
        fail(world, unavailable)
        #expect(world.transport.calls.count == 42)
        found(world, 41)
        #expect(try read.all[0].get().ids == ["a"])
    }

    /// The transport has already asked for another token before the engine receives this error.
    @Test func `a token that was refused twice is not offered again`() throws {
        let world = try Harness()
        let read = world.read(path("rooms/a"), source: .server)
        let status = RPCStatus(.unauthenticated, "old")
        fail(world, status)
        #expect(read.all == [.failure(.server(status))])
        #expect(world.transport.calls.count == 1)
    }
}
