import Testing
import Tidemark
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

/// Tests a stack whose users sign in by another library, against servers over sockets.
@Suite(.timeLimit(.minutes(2))) struct `A stack with another library's user` {
    private let store = ScriptedStore()

    private var stages: StackSettings.Stages {
        StackSettings.Stages(
            beginSignUp: { jobs, user, step in
                let profile: MapValue = ["name": .string("Ada")]
                if user != nil { return await jobs.completeProfile(profile, step: step) }
                try? await jobs.signUp(
                    .password(email: "ada@b.c", "correct horse"), profile: profile, step: step)
            })
    }

    private func reach(_ launch: Launch, _ isThere: (LaunchMachine.State) -> Bool) async {
        for await machine in launch.machines where isThere(machine.state) { return }
    }

    private func isLive(_ state: LaunchMachine.State) -> Bool {
        if case .live = state { true } else { false }
    }

    private func library(_ world: StackWorld) async -> OtherLibrary {
        let library = OtherLibrary(
            HTTPAccountsTransport(.local(world.accounts.host)), store: store)
        await library.start()
        return library
    }

    private func stack(_ world: StackWorld, _ library: OtherLibrary) throws -> TidemarkStack {
        try world.stack(change: { $0.identity = .provider(LibraryIdentity(library)) })
    }

    @Test func `signs up, is live, stays signed in, and deletes the account`() async throws {
        let world = try await StackWorld()
        var library = await self.library(world)
        var stack = try self.stack(world, library)
        var launch = stack.launch(stages)
        launch.start()
        launch.contentShown()
        await reach(launch) { $0 == .signedOut(.nobody) }
        launch.perform(.beginSignUp)
        launch.perform(.submit)
        await reach(launch, isLive)
        let user = try #require(stack.identity.user)
        #expect(library.user == user.text && stack.accounts == nil)
        #expect(try await stack.firestore.document("users/\(user)").getDocument().exists)
        launch.close()
        await stack.close()

        library = await self.library(world)
        stack = try self.stack(world, library)
        launch = stack.launch(stages)
        launch.start()
        launch.contentShown()
        await reach(launch) { $0 == .live(user) }
        await stack.jobs.deleteAccount()
        await reach(launch) { $0 == .signedOut(.removed) }
        #expect(library.user == nil && stack.files.known.lastUser == nil)
        await #expect(throws: AccountError.wrongCredentials) {
            try await library.signIn(email: "ada@b.c", "correct horse")
        }
        launch.close()
        await stack.close()
        await world.stop()
    }

    /// An app's sign-in screen belongs to the library: the launch follows its user.
    @Test func `follows a sign-in that the library has made itself`() async throws {
        let world = try await StackWorld()
        let library = await self.library(world)
        let stack = try self.stack(world, library)
        let launch = stack.launch(stages)
        launch.start()
        launch.contentShown()
        await reach(launch) { $0 == .signedOut(.nobody) }
        let user = try await library.signUp(email: "ada@b.c", "correct horse")
        await reach(launch) { $0 == .profileMissing(user, step: 0) }
        launch.perform(.submit)
        await reach(launch) { $0 == .live(user) }
        try await library.signOut()
        await reach(launch) { $0 == .signedOut(.asked) }
        launch.close()
        await stack.close()
        await world.stop()
    }

    @Test(arguments: [true, false])
    func `never replaces a provider of tokens that was given`(isLibrary: Bool) async throws {
        let world = try await StackWorld()
        let recorded = RecordedTransport(world.local.server)
        let served = try await ServedTransport(recorded)
        let library = await self.library(world)
        let stack = try world.stack(change: { settings in
            if isLibrary { settings.identity = .provider(LibraryIdentity(library)) }
            settings.firestore.host = "127.0.0.1:\(served.port)"
            settings.firestore.tokenProvider = IDTokens { _ in "owner" }
            settings.firestore.appCheckProvider = IDTokens { _ in "attested" }
        })
        await stack.identity.load()
        _ = try await stack.firestore.document("rooms/a").getDocument(source: .server)
        #expect(!recorded.calls.isEmpty)
        for call in recorded.calls {
            #expect(call.token == "owner" && call.appCheckToken == "attested")
        }
        await stack.close()
        await served.stop()
        await world.stop()
    }

    /// The second stack of the same settings must not use the tokens of the first.
    @Test func `leaves the given settings unchanged`() async throws {
        let world = try await StackWorld()
        let given = FirestoreSettings(host: "127.0.0.1:\(world.port)", isSSLEnabled: false)
        let stack = try world.stack(change: { $0.firestore = given })
        #expect(given.tokenProvider == nil && given.user == nil && given.cache == .standard)
        await stack.close()
        await world.stop()
    }
}
