import Synchronization
import Testing
import TestSupport
import Tidemark
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

/// Tests a whole app that uses `TidemarkStack`, against servers over sockets.
@Suite(.timeLimit(.minutes(2))) struct `An app's stack` {
    private func stages(
        _ shown: AsyncStream<Int>.Continuation? = nil
    ) -> StackSettings.Stages {
        StackSettings.Stages(
            showContent: { _, feeds in
                if let feed = feeds.first { shown?.yield(await feed.items.count) }
            },
            beginSignUp: { jobs, user, step in
                let profile: MapValue = ["name": .string("Ada")]
                if user != nil { return await jobs.completeProfile(profile, step: step) }
                try? await jobs.signUp(
                    .password(email: "ada@b.c", "correct horse"), profile: profile, step: step)
            })
    }

    private func reach(
        _ launch: Launch, _ isThere: (LaunchMachine) -> Bool
    ) async {
        for await machine in launch.machines where isThere(machine) { return }
    }

    private func isLive(_ machine: LaunchMachine) -> Bool {
        if case .live = machine.state { true } else { false }
    }

    @Test func `signs up, becomes live, and shows its feed from disk at the next launch`()
        async throws
    {
        let world = try await StackWorld()
        let writer = try world.local.firestore(label: "writer")
        try await writer.document("stamps/s1").setData([
            "createdAt": FieldValue.serverTimestamp(), "updatedAt": FieldValue.serverTimestamp(),
        ])
        var stack = try world.stack()
        var launch = stack.launch(stages())
        launch.start()
        launch.contentShown()
        await reach(launch) { if case .signedOut = $0.state { true } else { false } }
        launch.perform(.beginSignUp)
        launch.perform(.submit)
        await reach(launch, isLive)
        let user = try #require(stack.identity.user)
        #expect(try await stack.firestore.document("users/\(user)").getDocument().exists)
        #expect(await stack.feeds.first?.items.count == 1)
        launch.close()
        await stack.close()

        let shown = AsyncStream.makeStream(of: Int.self)
        stack = try world.stack()
        launch = stack.launch(stages(shown.continuation))
        launch.start()
        for await count in shown.stream {
            #expect(count == 1, "from disk, before anybody was asked")
            break
        }
        launch.contentShown()
        await reach(launch, isLive)
        launch.close()
        await stack.close()
        await world.stop()
    }

    /// After an update from another library, no user of this device is recorded.
    @Test func `shows the data of a user whose session was loaded before the launch`()
        async throws
    {
        let world = try await StackWorld()
        var stack = try world.stack()
        _ = try await stack.accounts?.signUp(email: "ada@b.c", password: "correct horse")
        let user = try #require(stack.identity.user)
        await stack.close()

        stack = try world.stack()
        #expect(try await stack.parts(stages()).openLocal().lastUser == nil)
        await stack.identity.load()
        #expect(try await stack.parts(stages()).openLocal().lastUser == user)
        await stack.close()
        await world.stop()
    }

    /// The job begins offline, and continues when the system reports a network.
    @Test func `goes on with a job when the network is back`() async throws {
        let world = try await StackWorld()
        let signals = AsyncStream.makeStream(of: AppSignal.self)
        let isOffline = Mutex(true)
        let cut = CutLine(isOffline: { isOffline.withLock { $0 } })
        let stack = try world.stack(AppSignals { signals.stream }) { settings in
            settings.profiles = { firestore in
                cut.base.withLock { $0 = FirestoreProfiles(firestore) }
                return cut
            }
        }
        await stack.identity.load()
        var news = stack.jobs.news.makeAsyncIterator()
        try await stack.jobs.signUp(
            .password(email: "ada@b.c", "correct horse"), profile: ["name": .string("Ada")])
        #expect(await news.next() == .waiting)
        isOffline.withLock { $0 = false }
        signals.continuation.yield(.networkIsBack)
        let user = try #require(stack.identity.user)
        #expect(await news.next() == .finished(user))
        await stack.close()
        await world.stop()
    }

    /// Returns a backfill of a day's stamps.
    private static func backfill(on stack: TidemarkStack) throws -> Backfill {
        let history = try QueryHistory(
            stack.firestore.collection("stamps"), itemTime: "createdAt", name: "stamps")
        let job = BackfillJob(
            name: "stamps", from: Timestamp(seconds: 0, nanoseconds: 0),
            to: Timestamp(seconds: 86_400, nanoseconds: 0))
        return Backfill([.init(job, from: history, to: history)])
    }

    @Test func `has a backfill wait for a network that is free, and for power`() async throws {
        let world = try await StackWorld()
        let stack = try world.stack()
        let backfill = try Self.backfill(on: stack)
        await stack.signal(.networkIsExpensive(true))
        await stack.follow(backfill)
        try await backfill.start()
        #expect(await backfill.current.phase == .held(.expensiveNetwork))
        await stack.signal(.networkIsGone)
        #expect(await backfill.current.phase == .held(.offline))
        await stack.signal(.networkIsBack)
        await stack.signal(.powerIsLow(true))
        await stack.signal(.networkIsExpensive(false))
        #expect(await backfill.current.phase == .held(.lowPower))
        await stack.signal(.powerIsLow(false))
        for await progress in await backfill.progress where progress.phase == .complete { break }
        await stack.close()
        await world.stop()
    }

    @Test func `reports both costs of a network, for files and for backfills`() async throws {
        let world = try await StackWorld()
        let stack = try world.stack()
        let backfill = try Self.backfill(on: stack)
        await stack.signal(.networkSavesData(true))
        await stack.signal(.networkIsExpensive(true))
        await stack.follow(backfill)
        try await backfill.start()
        #expect(stack.firestore.network.cost == .init(isExpensive: true, isConstrained: true))
        await stack.signal(.networkIsExpensive(false))
        #expect(stack.firestore.network.cost == .init(isConstrained: true))
        #expect(await backfill.current.phase == .held(.expensiveNetwork))
        await stack.signal(.networkSavesData(false))
        #expect(stack.firestore.network.cost == .init())
        for await progress in await backfill.progress where progress.phase == .complete { break }
        await stack.close()
        await world.stop()
    }

    @Test func `makes feeds once for each user`() async throws {
        let world = try await StackWorld()
        let stack = try world.stack()
        let first = try stack.feeds(of: nil)
        #expect(try stack.feeds(of: nil).first === first.first)
        #expect(try stack.feeds(of: UserID("ada")).first !== first.first)
        await stack.close()
        await world.stop()
    }
}

/// A stack whose cache another process may open while the app is in the background.
@Suite(.timeLimit(.minutes(2))) struct `A stack in an app group` {
    private func isRefused(_ stack: TidemarkStack) async -> Bool {
        do throws(FirestoreError) {
            _ = try await stack.firestore.collection("rooms").getDocuments(source: .cache)
            return false
        } catch { return error.code == .failedPrecondition }
    }

    @Test func `suspends its client in the background, for work there and until it is in front`()
        async throws
    {
        let world = try await StackWorld()
        let stack = try world.stack { $0.suspendsAfter = .zero }
        #expect(await isRefused(stack) == false)
        await stack.signal(.wentBack)
        try await until("the stack is refused") { await isRefused(stack) }
        // Work that the system allows in between opens the file, and closes it again.
        let report = await stack.backgroundWork().run(for: .seconds(600))
        #expect(report.done.contains(.outbox))
        #expect(await isRefused(stack))
        await stack.signal(.cameForward)
        #expect(await isRefused(stack) == false)
        // Work that ends after the app has come forward leaves the file open.
        _ = await stack.backgroundWork().run(for: .seconds(600))
        #expect(await isRefused(stack) == false)
        await stack.close()
        await world.stop()
    }

    @Test func `that is in front again within the grace is not suspended`() async throws {
        let world = try await StackWorld()
        let stack = try world.stack { $0.suspendsAfter = .seconds(3_600) }
        await stack.firestore.disableNetwork()
        _ = try await stack.firestore.document("rooms/a").enqueueSetData(["n": 1])
        await stack.signal(.wentBack)
        await stack.signal(.cameForward)
        await stack.firestore.enableNetwork()
        try await stack.firestore.waitForPendingWrites()
        #expect(await isRefused(stack) == false)
        await stack.close()
        await world.stop()
    }

    @Test func `that does not ask for it keeps its cache open`() async throws {
        let world = try await StackWorld()
        let stack = try world.stack()
        #expect(await isRefused(stack) == false)
        await stack.signal(.wentBack)
        #expect(await isRefused(stack) == false)
        await stack.close()
        await world.stop()
    }
}
