import Foundation
import Synchronization
import Testing
import Tidemark
import TidemarkGoogleAuth
import TidemarkResilience
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

// The examples of the articles on retries, signing in, the stack, sign-ups, ranks and sentences.

/// Prints nothing, because the output of the tests shows results only.
private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

@Suite(.timeLimit(.minutes(2))) struct `The examples of the newer articles` {
    private struct Order: Encodable, Sendable { var price = Double.nan }
    private struct Profile: Codable, Sendable { var name: String }

    private final class Auth: Sendable {
        private let forced = Mutex(0)
        func idToken(forcingRefresh isForced: Bool) async throws -> String? {
            forced.withLock { forced in
                if isForced { forced += 1 }
                return "token \(forced)"
            }
        }
        func token(forcingRefresh isForced: Bool) async throws -> String? { "attested" }
    }

    @Sendable private func load() async throws -> Int { 7 }

    @Test func `on trying again`() async throws {
        let page = try await Retry(.mobile).run { try await load() }
        let profile = try await withTimeout(.seconds(5)) { try await load() }
        #expect(page == 7 && profile == 7)
        let order = Order()
        let sent = Mutex(0)
        @Sendable func send(_ body: Data) async throws { sent.withLock { $0 += 1 } }
        do {
            try await Retry(.mobile).run {
                let body = try JSONEncoder().encode(order)
                try await send(body)
            }
            Issue.record("it cannot be encoded")
        } catch let error as RetryError {
            #expect(error.reason == .permanent && error.attemptsMade == 1)
        }
        #expect(sent.withLock { $0 } == 0)
    }

    @Test func `on sentences`() {
        let sentence = FirestoreError(.permissionDenied, "rules").sentence
        print(sentence.key)  // firestore.askForPermission
        print(sentence.localized())  // from the table "Tidemark" of the main bundle, or in English
        #expect(sentence.key == "firestore.askForPermission")
        #expect(sentence.localized() == "You don't have permission to do this.")
    }

    @Test func `on prices`() {
        let before = ReadPrices.journeys.estimate(readsAnOpen: 1_000, devices: 1_000, opensADay: 50)
        // 50,000,000 reads a day: $180.00 a day, $5,400.00 a month, $65,700.00 a year
        print(before)
        #expect("\(before)".hasSuffix("$65,700.00 a year"))
    }

    @Test func `on ranks`() async throws {
        try await LocalFirestore.withClient { _, firestore in
            try await firestore.document("users/ada").setData(["totalStamps": 3])
            try await firestore.document("users/bob").setData(["totalStamps": 9])
            let rank = try await firestore.collection("users").rank(of: "ada", by: "totalStamps")
            print(rank.position, rank.freshness)
            let users = firestore.collection("users")
            let last = try? await users.lastRank(of: "ada", by: "totalStamps")
            #expect(rank.position == 2 && last?.position == 2)
            let stamps = firestore.collection("stamps").count
            let answer = try await stamps.getAggregation(
                source: .default, within: .milliseconds(500))
            #expect(answer.count.intValue == 0)
        }
    }

    @Test func `on signing in by somebody else`() async throws {
        try await LocalFirestore.withClient { _, firestore in
            let (auth, attestation) = (Auth(), Auth())
            let settings = FirestoreSettings()
            let tokens = IDTokens { refused in
                try await auth.idToken(forcingRefresh: refused != nil)
            }
            settings.tokenProvider = tokens
            try await tokens.change(to: "bob", of: firestore)
            settings.appCheckProvider = IDTokens { refused in
                try await attestation.token(forcingRefresh: refused != nil)
            }
            #expect(try await settings.tokenProvider?.token() == "token 0")
            #expect(try await settings.appCheckProvider?.token() == "attested")
        }
    }

    @Test func `on a service account`() async throws {
        let (settings, environment) = (FirestoreSettings(), ["GCE_METADATA_HOST": "127.0.0.1:1"])
        do {
            let credentials = try await GoogleCredentials.found(in: environment)
            settings.tokenProvider = IDTokens { refused in
                try await credentials.token(replacing: refused)
            }
            Issue.record("there is nobody")
        } catch { #expect(error == .noCredentials) }
    }

    @Test func `on signing up, and on a session of FirebaseAuth`() async throws {
        try await LocalFirestore.withClient { _, firestore in
            let (folder, server) = (TestFolder(), ScriptedAccounts())
            let files = try LaunchFiles(folder: folder.path)
            let accounts = Accounts(
                server, store: try FileCredentialStore(folder: folder.path, key: nil),
                installation: files.installation)
            let jobs = AccountJobs(accounts, profiles: FirestoreProfiles(firestore), files: files)
            var news = jobs.news.makeAsyncIterator()
            let apple = ProviderCredential(provider: "apple.com", idToken: "ada")
            let (draft, profile) = (Profile(name: "A"), Profile(name: "Ada"))
            try await jobs.signIn(.provider(apple))
            guard case .signedIn(let user)? = await news.next() else { return }
            try await jobs.keep(step: 1, draft: draft)
            try await jobs.completeProfile(profile, step: 2)
            #expect(await news.next() == .finished(user))
            let refreshToken = try #require(accounts.held.withLock { $0.session?.refreshToken })
            try await accounts.takeOver(user, refreshToken: refreshToken)
            #expect(accounts.user == user)
        }
    }

    @Test func `on one entry for an app`() async throws {
        let local = try LocalFirestore.start()
        let served = try await LocalAccounts.start(beside: local)
        let (folder, project) = (TestFolder().path, local.projectID)
        let endpoint = AccountsEndpoint.local(served.host)
        @Sendable func show(_ feeds: [Feed]) async {}
        @Sendable func signUp(_ jobs: AccountJobs, _ user: UserID?, _ step: Int) async {}
        let stack = try TidemarkStack(
            StackSettings(folder: folder, projectID: project, accounts: endpoint) { firestore, _ in
                [
                    try Feed(
                        FeedDefinition(
                            query: firestore.collection("stamps"), itemTime: "createdAt",
                            way: .changeTime("updatedAt", deletedField: "deletedAt")))
                ]
            })
        let launch = stack.launch(
            StackSettings.Stages(
                showContent: { _, feeds in await show(feeds) },
                beginSignUp: { jobs, user, step in await signUp(jobs, user, step) }))
        launch.start()
        await stack.signal(.networkIsBack)
        launch.close()
        await stack.close()
        await served.stop()
        await local.stop()
    }
}

struct `The examples on identities` {
    private let folder = TestFolder()

    @Test func `make the settings of a stack`() throws {
        let folder = folder.path
        let (project, endpoint) = ("my-app", AccountsEndpoint.local("localhost:9099"))
        do {
            let settings = StackSettings(folder: folder, projectID: project, accounts: endpoint)
            guard case .accounts = settings.identity else { throw Unexpected() }
        }
        do {
            let library = OtherLibrary(ScriptedAccounts())
            let identity = LibraryIdentity(library)
            let settings = StackSettings(folder: folder, projectID: "my-app", identity: identity)
            guard case .provider = settings.identity else { throw Unexpected() }
        }
        var settings = StackSettings(folder: folder, projectID: project, accounts: endpoint)
        let (earlier, shared) = (ScriptedStore(), ScriptedStore())
        try earlier.write(.session, [1])
        settings.credentials = MovingCredentialStore(from: earlier, to: shared)
        #expect(try settings.credentials?.read(.session) == [1])
        #expect(try shared.read(.session) == [1])
    }

    private struct Unexpected: Error {}
}
