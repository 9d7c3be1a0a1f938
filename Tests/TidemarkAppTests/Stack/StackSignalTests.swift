import Foundation
import Synchronization
import Testing
import TestSupport
import Tidemark
import TidemarkImages
import TidemarkResilience
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

/// Tests how the parts of a stack react to signals from the system.
@Suite(.timeLimit(.minutes(2))) struct `A signal to a stack` {
    private let store = ScriptedStore()
    private let way = AccountJobs.Way.password(email: "ada@b.c", "correct horse")
    private let profile: MapValue = ["name": .string("Ada")]

    private var stages: StackSettings.Stages { StackSettings.Stages(beginSignUp: { _, _, _ in }) }

    private func reach(_ launch: Launch, _ isThere: (LaunchMachine.State) -> Bool) async {
        for await machine in launch.machines where isThere(machine.state) { return }
    }

    @Test func `that the device is unlocked loads the session, and the launch goes on`()
        async throws
    {
        let world = try await StackWorld()
        var stack = try world.stack { $0.credentials = store }
        await stack.identity.load()
        var news = stack.jobs.news.makeAsyncIterator()
        try await stack.jobs.signUp(way, profile: profile)
        let told = await news.next()
        let user = try #require(told.flatMap(Self.finished))
        await stack.close()

        // The app starts in the background before the first unlock of the device.
        store.fail(.locked)
        stack = try world.stack { $0.credentials = store }
        let launch = stack.launch(stages)
        launch.start()
        launch.contentShown()
        await reach(launch) { $0 == .locked }
        #expect(stack.identity.state == .locked)
        // A signal about the network does not change the locked state.
        await stack.signal(.networkIsBack)
        #expect(stack.identity.state == .locked && launch.machine.state == .locked)

        store.fail(nil)
        await stack.signal(.protectedDataIsReadable)
        #expect(stack.identity.state == .signedIn(user), "by the signal, whatever a launch does")
        await reach(launch) { $0 == .live(user) }
        #expect(launch.machine.problem == nil)
        launch.close()
        await stack.close()
        await world.stop()
    }

    @Test func `of the network reaches calls that are not Firestore's`() async throws {
        let world = try await StackWorld()
        let (signals, input) = AsyncStream.makeStream(of: AppSignal.self)
        let stack = try world.stack(AppSignals { signals })
        let connectivity = stack.connectivity
        #expect(connectivity.isOnline(), "before the first signal")
        try await connectivity.untilOnline()
        input.yield(.networkIsGone)
        try await until("the network is gone") { !connectivity.isOnline() }

        let attempts = Mutex(0)
        let events = Mutex<[RetryEvent]>([])
        var retry = Retry(.mobile, clock: ContinuousClock(), connectivity: connectivity)
        retry.onEvent = { event in events.withLock { $0.append(event) } }
        let call = Task { [retry] in try await retry.run { attempts.withLock { $0 += 1 } } }
        try await until("the call waits") { events.withLock { $0.contains(.waitingForNetwork) } }
        #expect(attempts.withLock(\.self) == 0, "nothing is tried without a network")
        let other = Task { try await connectivity.untilOnline() }
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.value }
        input.yield(.networkIsBack)
        try await call.value
        #expect(attempts.withLock(\.self) == 1)

        // After its end, nobody would tell of a network again.
        await stack.signal(.networkIsGone)
        await stack.close()
        #expect(connectivity.isOnline())
        await world.stop()
    }

    /// The examples of the doc comment and of an article.
    @Test func `is passed on as in the documentation`() async throws {
        let world = try await StackWorld()
        let stack = try world.stack()
        let folder = URL(fileURLWithPath: world.folder.path + "/pictures")
        let retry = Retry(.mobile, connectivity: stack.connectivity)
        @Sendable func load() async throws -> Int { 7 }
        let loaded = try await Retry(.mobile, connectivity: stack.connectivity).run {
            try await load()
        }
        #expect(loaded == 7)
        let pipeline = try ImagePipeline(
            folder: folder, environment: ImageEnvironment(connectivity: stack.connectivity))
        #expect(retry.connectivity.isOnline() && pipeline.figures.decodes == 0)
        await stack.close()
        await world.stop()
    }

    @Test func `that the device is unlocked goes on with a job that could not read its secret`()
        async throws
    {
        let world = try await StackWorld()
        let store = store
        // The device is locked between two steps, as in a pocket.
        let stack = try world.stack(
            change: { $0.credentials = store },
            probe: { if $0 == "secret kept" { store.fail(.locked) } })
        await stack.identity.load()
        var news = stack.jobs.news.makeAsyncIterator()
        try await stack.jobs.signUp(way, profile: profile)
        #expect(await news.next() == .waiting)
        #expect(stack.identity.user == nil)

        store.fail(nil)
        await stack.signal(.protectedDataIsReadable)
        let told = await news.next()
        let user = try #require(told.flatMap(Self.finished))
        #expect(stack.identity.user == user)
        #expect(try await stack.firestore.document("users/\(user)").getDocument().exists)
        await stack.close()
        await world.stop()
    }

    /// The server refuses connections, so the network is there and the service is not.
    @Test func `that there is no network, and nothing else, makes a launch say so`() async throws {
        let world = try await StackWorld()
        let stack = try world.stack { settings in
            settings.firestore.host = "127.0.0.1:1"
            settings.budgets.feeds = .milliseconds(1)
        }
        try await stack.accounts?.signUp(email: "ada@b.c", password: "correct horse")
        let user = try #require(stack.identity.user)
        try stack.files.update { facts in
            facts.completeProfile = user
            facts.lastUser = user
        }
        let launch = stack.launch(stages)
        launch.start()
        launch.contentShown()
        for await machine in launch.machines
        where machine.problem == .unreachable(.backendDown) { break }
        await stack.signal(.networkIsGone)
        for await machine in launch.machines where machine.problem == .offline { break }
        await stack.signal(.networkIsBack)
        for await machine in launch.machines where machine.problem == .noAnswer { break }
        // A launch that begins later knows it too.
        await stack.signal(.networkIsGone)
        let later = stack.launch(stages)
        for await machine in later.machines where !machine.isNetworkAvailable { break }
        launch.close()
        later.close()
        await stack.close()
        await world.stop()
    }

    private static func finished(_ news: JobNews) -> UserID? {
        if case .finished(let user) = news { user } else { nil }
    }

    /// The connection over the previous network can be dead without an error. Only the signal makes
    /// an up-to-date listener connect again.
    @Test(arguments: [AppSignal.networkIsBack, .protectedDataIsReadable, .cameForward])
    func `that may mean a network has listeners connect anew`(signal: AppSignal) async throws {
        let world = try await StackWorld()
        let recorded = RecordedTransport(world.local.server)
        let served = try await ServedTransport(recorded)
        let stack = try world.stack { $0.firestore.host = "127.0.0.1:\(served.port)" }
        await stack.identity.load()
        let shown = AsyncStream.makeStream(of: Bool.self)
        let room = stack.firestore.document("rooms/blue")
        let listener = room.addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
            guard let snapshot, !snapshot.metadata.isFromCache else { return }
            shown.continuation.yield(snapshot.exists)
        }
        var rooms = shown.stream.makeAsyncIterator()
        #expect(await rooms.next() == false)
        #expect(recorded.listens.count == 1)
        await stack.signal(signal)
        try await until("a second stream listens") { recorded.listens.count >= 2 }
        // The listener receives this write over the new stream.
        try await world.local.firestore(label: "writer").document("rooms/blue").setData(["n": 1])
        while let exists = await rooms.next(), !exists {}
        listener.remove()
        await stack.close()
        await served.stop()
        await world.stop()
    }
}
