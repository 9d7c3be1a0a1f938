import Synchronization
import Testing
import TidemarkModel
import TidemarkTestKit
import TidemarkTesting

@testable import TidemarkSync

/// Counts the timers that fire, because each wakes the device.
private final class CountingScheduler: EngineScheduler {
    let virtual = VirtualScheduler()
    private let state = Mutex<[(id: TimerID, at: Duration)]>([])

    /// The timers that have fired since the last call, in order.
    func take() -> [TimerID] {
        state.withLock { fired in
            defer { fired = [] }
            return fired.map(\.id)
        }
    }

    /// The greatest number of timers that have fired within one minute since the last call of
    /// ``take()``.
    var most: Int {
        let times = state.withLock { $0.map(\.at) }
        return times.map { start in times.count { $0 >= start && $0 < start + .seconds(60) } }
            .max() ?? 0
    }

    var elapsed: Duration { virtual.elapsed }
    func enqueue(_ job: @escaping @Sendable () -> Void) { virtual.enqueue(job) }

    func schedule(
        _ id: TimerID, after delay: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        virtual.schedule(id, after: delay) { [self] in
            state.withLock { $0.append((id, virtual.elapsed)) }
            job()
        }
    }
}

/// An idle client costs a phone little only if it sleeps. The test counts the timers of an engine
/// in virtual time; the engine has no other way to wake up by itself.
struct `A quiet engine` {
    private let scheduler = CountingScheduler()
    private let transport = ScriptedTransport()
    private let engine: SyncEngine

    init() throws {
        engine = try SyncEngine(
            SyncEngine.Configuration(database: Harness.database, cacheFile: nil, label: "test"),
            SyncEnvironment(
                transport: transport, scheduler: scheduler,
                now: { [virtual = scheduler.virtual] in virtual.now }, random: { 0.5 }))
        scheduler.virtual.runUntilIdle()
    }

    private func listen(to query: Query) throws -> Listener {
        let listener = Listener()
        listener.handle = engine.listen(query, .init()) { listener.record($0) }
        scheduler.virtual.runUntilIdle()
        return listener
    }

    private func answer() throws {
        let stream = try #require(transport.listens.last)
        for case .add(let target, _) in stream.sent {
            stream.push(.targetChange(TargetChange(.add, targetIDs: [target.id])))
            stream.push(
                .targetChange(
                    TargetChange(
                        .current, targetIDs: [target.id], resumeToken: [1], readTime: at(10))))
            stream.push(.targetChange(TargetChange(.noChange, readTime: at(10))))
        }
        scheduler.virtual.runUntilIdle()
    }

    @Test func `that listens wakes only to collect garbage, every five minutes`() throws {
        let listener = try listen(to: rooms())
        try answer()
        #expect(try !listener.snapshot().isFromCache)
        scheduler.virtual.advance(by: .seconds(300))
        _ = scheduler.take()
        scheduler.virtual.advance(by: .seconds(3_600))
        let fired = scheduler.take()
        #expect(Set(fired).subtracting([.garbageCollection]).isEmpty)
        #expect(fired.count <= 12)
    }

    @Test func `without listeners closes its streams, and then wakes no more often`() throws {
        let listener = try listen(to: rooms())
        try answer()
        engine.write([set("rooms/a", [:])]) { _ in }
        scheduler.virtual.runUntilIdle()
        let writes = try #require(transport.writes.last)
        writes.push(WriteResponse(streamToken: [9]))
        scheduler.virtual.runUntilIdle()
        writes.push(
            WriteResponse(
                streamToken: [9], results: [MutationResult(updateTime: at(20))],
                commitTime: at(20)))
        scheduler.virtual.runUntilIdle()
        listener.handle?.cancel()
        scheduler.virtual.advance(by: .seconds(300))
        #expect(!transport.listens.contains { !$0.isEnded && !$0.isFinished })
        #expect(!transport.writes.contains { !$0.isEnded && !$0.isFinished })
        _ = scheduler.take()
        scheduler.virtual.advance(by: .seconds(3_600))
        let fired = scheduler.take()
        #expect(Set(fired).subtracting([.garbageCollection]).isEmpty)
        #expect(fired.count <= 12)
    }

    /// The delay between two attempts grows to a minute.
    @Test func `without a server tries once a minute for each stream`() throws {
        let listener = try listen(to: rooms())
        engine.write([set("rooms/a", [:])]) { _ in }
        scheduler.virtual.runUntilIdle()
        var (listens, writes) = (0, 0)
        func refuse(for duration: Duration) {
            let end = scheduler.elapsed + duration
            while scheduler.elapsed < end {
                for stream in transport.listens where !stream.isEnded {
                    stream.end(RPCStatus(.unavailable, "no server"))
                }
                for stream in transport.writes where !stream.isEnded {
                    stream.end(RPCStatus(.unavailable, "no server"))
                }
                scheduler.virtual.advance(by: .seconds(1))
            }
        }
        refuse(for: .seconds(600))
        _ = scheduler.take()
        (listens, writes) = (transport.listens.count, transport.writes.count)
        refuse(for: .seconds(3_600))
        #expect(transport.listens.count - listens <= 60 && transport.writes.count - writes <= 60)
        #expect(transport.listens.count - listens > 30, "it goes on trying")
        #expect(scheduler.most <= 4)
        let fired = scheduler.take()
        #expect(fired.count <= 240, "\(Dictionary(grouping: fired) { $0 }.mapValues(\.count))")
        listener.handle?.cancel()
    }
}
