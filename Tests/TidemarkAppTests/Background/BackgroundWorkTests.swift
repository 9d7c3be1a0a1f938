import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkResilience
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

struct `The order of work in the background` {
    private typealias Machine = BackgroundMachine

    private func report(
        _ done: Set<BackgroundPart>, _ unfinished: Set<BackgroundPart>
    ) -> Machine.Effect {
        var report = BackgroundReport()
        report.done = done
        report.unfinished = unfinished
        return .finish(report)
    }

    @Test func `is what waits and what is looked at, and then history`() {
        var machine = Machine([.outbox, .feeds, .backfill])
        #expect(machine.step(.began) == [.start(.outbox), .start(.feeds)])
        #expect(machine.step(.ended(.feeds, isDone: false)) == [])
        #expect(machine.step(.ended(.feeds, isDone: true)) == [], "it has ended")
        #expect(machine.step(.ended(.outbox, isDone: true)) == [.start(.backfill)])
        #expect(
            machine.step(.ended(.backfill, isDone: true)) == [
                report([.outbox, .backfill], [.feeds])
            ])
        #expect(machine.step(.timeIsUp) == [], "it is over")
    }

    @Test func `ends with the time, whatever runs`() {
        var machine = Machine([.outbox, .feeds, .backfill])
        _ = machine.step(.began)
        _ = machine.step(.ended(.outbox, isDone: true))
        #expect(
            machine.step(.timeIsUp) == [.stop(.feeds), report([.outbox], [.feeds, .backfill])])
        #expect(machine.step(.ended(.feeds, isDone: true)) == [])
    }

    @Test func `of nothing is over at once`() {
        var machine = Machine([])
        #expect(machine.step(.began) == [report([], [])])
        var history = Machine([.backfill])
        #expect(history.step(.began) == [.start(.backfill)])
    }
}

@Suite(.timeLimit(.minutes(2))) struct `Work in the background` {
    @Test func `returns when its time is over, whatever does not hear of it`() async {
        let clock = ManualClock()
        let gate = AsyncStream.makeStream(of: Void.self)
        let work = BackgroundWork([
            .outbox: { true },
            // This work ignores the cancellation of its task.
            .feeds: {
                await Task.detached { for await _ in gate.stream {} }.value
                return true
            },
        ])
        let running = Task { await work.run(for: .seconds(25), clock: clock) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(25))
        let report = await running.value
        #expect(report.done.isSubset(of: [.outbox]))
        #expect(report.unfinished.contains(.feeds) && !report.isComplete)
        gate.continuation.finish()
    }

    @Test func `returns when its task is cancelled`() async {
        let hasBegun = AsyncStream.makeStream(of: Void.self)
        let work = BackgroundWork([
            .feeds: {
                hasBegun.continuation.yield()
                try? await until("the work is cancelled") { Task.isCancelled }
                return true
            }
        ])
        let running = Task { await work.run(for: .seconds(600)) }
        for await _ in hasBegun.stream { break }
        running.cancel()
        #expect(await running.value.unfinished == [.feeds])
        #expect(await work.run(for: .zero).unfinished == [.feeds])
    }

    @Test func `sends, syncs, and goes on with history`() async throws {
        let world = try await StackWorld()
        let local = world.local
        let writer = try local.firestore(label: "writer")
        let now = local.now
        for (name, time) in [("new", now), ("old", now.advanced(by: .seconds(-20 * 86_400)))] {
            try await writer.document("stamps/\(name)").setData([
                "createdAt": time, "updatedAt": FieldValue.serverTimestamp(),
            ])
        }
        let stack = try world.stack()
        let own = stack.firestore.document("stamps/own")
        _ = try await own.enqueueSetData([
            "createdAt": FieldValue.serverTimestamp(), "updatedAt": FieldValue.serverTimestamp(),
        ])
        let history = try QueryHistory(
            stack.firestore.collection("stamps"), itemTime: "createdAt", name: "stamps")
        let year = BackfillJob(
            name: "stamps", from: now.advanced(by: .seconds(-365 * 86_400)), to: now)
        let work = stack.backgroundWork { Backfill([.init(year, from: history, to: history)]) }
        // The time is long enough for a busy machine. The call returns when all work is done.
        let time = Duration.seconds(600)
        let report = await work.run(for: time)
        #expect(report.done == [.outbox, .feeds, .backfill] && report.isComplete)
        #expect(try await writer.document("stamps/own").getDocument(source: .server).exists)
        #expect(stack.feeds.isEmpty == false)
        #expect(await (stack.feeds.first?.items.count ?? 0) >= 2)
        #expect(try await history.coverage() != Coverage(), "the next one goes on behind it")
        await stack.close()
        await world.stop()
    }

    @Test func `waits for a device that cannot be read`() async throws {
        let store = ScriptedStore()
        store.fail(.locked)
        let folder = TestFolder()
        var settings = StackSettings(
            folder: folder.path, projectID: "p", accounts: .local("127.0.0.1:1"))
        settings.credentials = store
        settings.signals = .none
        let stack = try TidemarkStack(settings)
        let report = await stack.backgroundWork().run(for: .seconds(600))
        #expect(report.unfinished == [.outbox, .feeds])
        store.fail(nil)
        #expect(await stack.backgroundWork().run(for: .seconds(600)).isComplete)
        await stack.close()
    }
}
