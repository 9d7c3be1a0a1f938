import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing
import TidemarkServer
import TidemarkTesting

@testable import Tidemark

/// Tests where reads from the cache run with an app's own executor, and in which order.
@Suite(.timeLimit(.minutes(2))) struct `A read from the cache` {
    /// An app's executor that counts the jobs that change threads.
    private final class CountingScheduler: EngineScheduler {
        let base = DispatchScheduler()
        private static let isMain: DispatchSpecificKey<Bool> = {
            let key = DispatchSpecificKey<Bool>()
            // The main queue has no thread of its own where the test program waits, so the key
            // marks the queue.
            DispatchQueue.main.setSpecific(key: key, value: true)
            return key
        }()
        private let hops = Atomic<Int>(0)
        private let runs = Atomic<Int>(0)
        private let runsOnMain = Atomic<Int>(0)

        /// The number of jobs that ran on a caller's thread.
        var runsHere: (all: Int, main: Int) {
            (runs.load(ordering: .relaxed), runsOnMain.load(ordering: .relaxed))
        }

        func enqueue(_ job: @escaping @Sendable () -> Void) {
            hops.add(1, ordering: .relaxed)
            base.enqueue(job)
        }

        func runIfIdle(_ job: () -> Void) -> Bool {
            base.runIfIdle {
                runs.add(1, ordering: .relaxed)
                if DispatchQueue.getSpecific(key: Self.isMain) == true {
                    runsOnMain.add(1, ordering: .relaxed)
                }
                job()
            }
        }

        func schedule(
            _ id: TimerID, after delay: Duration, _ job: @escaping @Sendable () -> Void
        ) -> any CancellableCall {
            base.schedule(id, after: delay, job)
        }

        var elapsed: Duration { base.elapsed }

        /// Returns the number of jobs that changed threads since the last call, after all have run.
        func takeHops() async -> Int {
            await withCheckedContinuation { done in base.enqueue { done.resume() } }
            while !base.runIfIdle({}) { await Task.yield() }
            return hops.exchange(0, ordering: .relaxed)
        }
    }

    private func client(
        _ scheduler: any EngineScheduler, _ transport: any Transport = Unconnected()
    ) throws -> Firestore {
        try Firestore(
            projectID: "projectID",
            settings: FirestoreSettings(cache: .memory, readDeadline: .seconds(5)),
            environment: SyncEnvironment(
                transport: transport, scheduler: scheduler, now: { Timestamp(date: Date()) },
                random: { 0.5 }))
    }

    @Test func `changes no thread where the engine is idle, asked for the cache or offline`()
        async throws
    {
        let scheduler = CountingScheduler()
        let firestore = try client(scheduler)
        await firestore.disableNetwork()
        let rooms = firestore.collection("rooms")
        for number in 0..<3 {
            _ = try await rooms.document("\(number)").enqueueSetData(["n": number])
        }
        _ = await scheduler.takeHops()
        #expect(try await rooms.document("1").getDocument(source: .cache)["n"] as? Int == 1)
        #expect(try await rooms.document("2").getDocument()["n"] as? Int == 2)
        #expect(try await rooms.order(by: "n").getDocuments(source: .cache).count == 3)
        #expect(try await rooms.limit(to: 2).getDocuments().count == 2)
        let figures = try await rooms.count.getAggregation(source: .cache)
        #expect(figures.count == 3)
        #expect(await scheduler.takeHops() == 0)
        await firestore.terminate()
    }

    @Test @MainActor func `keeps an actor's thread for a document and for few rows only`()
        async throws
    {
        let scheduler = CountingScheduler()
        let firestore = try client(scheduler)
        await firestore.disableNetwork()
        let rooms = firestore.collection("rooms")
        _ = try await rooms.document("1").enqueueSetData(["n": 1])
        _ = await scheduler.takeHops()
        _ = try await rooms.document("1").getDocument(source: .cache)
        _ = try await rooms.limit(to: 100).getDocuments(source: .cache)
        #expect(await scheduler.takeHops() == 0)
        #expect(scheduler.runsHere.main == 2)
        #expect(try await rooms.getDocuments(source: .cache).count == 1)
        #expect(try await rooms.limit(to: 101).getDocuments(source: .cache).count == 1)
        #expect(await scheduler.takeHops() == 2)
        #expect(scheduler.runsHere.main == 2)
        await firestore.terminate()
    }

    @Test func `sees what its task has queued just before, whoever else does the same`()
        async throws
    {
        let scheduler = CountingScheduler()
        let firestore = try client(scheduler)
        let rooms = firestore.collection("rooms")
        try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                // Each task has a thread of its own. On the few threads that Swift's tasks share,
                // its 400 waits would also be waits for other tests.
                group.addTask(executorPreference: OneThread("reader \(task)")) {
                    let room = rooms.document("\(task)")
                    var stale = 0
                    for number in 0..<200 {
                        // The write is queued by a call that does not wait. The closure ignores the
                        // result; without a closure the client would log each write at its end.
                        room.setData(["n": number]) { _ in }
                        let shown = try await room.getDocument(source: .cache)
                        if shown["n"] as? Int != number { stale += 1 }
                    }
                    return stale
                }
            }
            for try await stale in group { #expect(stale == 0) }
        }
        #expect(try await rooms.getDocuments(source: .cache).count == 8)
        // Both ways are tested here, because on a busy machine no read above may have used the
        // caller's thread.
        #expect(await scheduler.takeHops() > 0)
        #expect(try await rooms.document("0").getDocument(source: .cache)["n"] as? Int == 199)
        #expect(scheduler.runsHere.all > 0)
        await firestore.terminate()
    }

    @Test func `can be followed by another one from its closure and from observers`() async throws {
        let firestore = try client(DispatchScheduler())
        let room = firestore.document("rooms/blue")
        let told = AsyncStream<Int>.makeStream()
        // The observer is called within a step of the engine.
        let observation = firestore.addSnapshotsInSyncListener {
            room.getDocument(source: .cache) { snapshot, _ in
                told.continuation.yield(snapshot?["n"] as? Int ?? -1)
            }
        }
        let listener = room.addSnapshotListener { _, _ in }
        let answers = AsyncStream<Int>.makeStream()
        room.setData(["n": 7]) { _ in }
        room.getDocument(source: .cache) { first, _ in
            room.getDocument(source: .cache) { second, _ in
                answers.continuation.yield(first?["n"] as? Int ?? -1)
                answers.continuation.yield(second?["n"] as? Int ?? -1)
                answers.continuation.finish()
            }
        }
        var seen: [Int] = []
        for await answer in answers.stream { seen.append(answer) }
        #expect(seen == [7, 7])
        for await answer in told.stream where answer == 7 { break }
        observation.remove()
        listener.remove()
        await firestore.terminate()
    }

    @Test func `throws in a task that is cancelled already, and while it waits`() async throws {
        let server = SilentTransport()
        let firestore = try client(DispatchScheduler(), server)
        let room = firestore.document("rooms/blue")
        _ = try await room.enqueueSetData(["n": 1])
        let begin = AsyncStream<Void>.makeStream()
        let early = Task { () -> FirestoreErrorCode? in
            for await _ in begin.stream {}
            do throws(FirestoreError) {
                _ = try await room.getDocument(source: .cache)
                return nil
            } catch { return error.code }
        }
        early.cancel()
        begin.continuation.finish()
        #expect(await early.value == .cancelled)

        let late = Task { () -> FirestoreErrorCode? in
            do throws(FirestoreError) {
                _ = try await room.getDocument(source: .server, within: .seconds(100))
                return nil
            } catch { return error.code }
        }
        await server.waitForCall()
        late.cancel()
        #expect(await late.value == .cancelled)
        await firestore.terminate()
    }
}

/// A server that accepts every call and answers none.
private final class SilentTransport: CallsOnlyTransport {
    private let calls = AsyncStream<Void>.makeStream()

    func waitForCall() async { for await _ in calls.stream { return } }

    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        calls.continuation.yield()
        return QuietStream<Request>()
    }
}
