import Dispatch
import Foundation
import Tidemark
import TidemarkApp
import TidemarkTesting

/// A complete app: accounts, jobs, a client and a feed. ``LaunchDevice`` prepares the device, and a
/// separate process launches the app there.
struct LaunchedApp: Sendable {
    let accounts: Accounts
    let firestore: Firestore
    let files: LaunchFiles
    let jobs: AccountJobs
    let feed: Feed

    init(
        folder: URL, _ transport: any Transport, accounts accountsTransport: any AccountsTransport,
        pageSize: Int = 500
    ) throws {
        files = try LaunchFiles(folder: folder.appending(path: "launch").path)
        accounts = Accounts(
            accountsTransport,
            store: try FileCredentialStore(folder: folder.appending(path: "secrets").path),
            installation: files.installation)
        let settings = FirestoreSettings(
            cache: .directory(folder.appending(path: "cache").path), user: files.lastUser?.text,
            cacheSizeBytes: nil, readDeadline: .seconds(60))
        settings.dispatchQueue = DispatchQueue(label: "benchmark.listeners")
        settings.tokenProvider = accounts
        firestore = try Firestore(
            projectID: "bench", settings: settings,
            environment: .live(transport))
        accounts.attach(firestore)
        feed = try Feed(
            FeedDefinition(
                query: firestore.collection("messages"), itemTime: "timestamp",
                way: .changeTime("updatedAt", deletedField: "deletedAt"), pageSize: pageSize))
        jobs = AccountJobs(accounts, profiles: FirestoreProfiles(firestore), files: files)
    }

    /// Makes the launch machine show the feed, and returns after the newest items are there.
    ///
    /// - Returns: The time at which the items were there.
    func firstContent() async -> UInt64 {
        let (told, notify) = AsyncStream.makeStream(of: UInt64.self)
        let parts = LaunchParts(
            accounts, jobs: jobs, files: files,
            showContent: { [feed] _ in
                let states = feed.states
                let opening = Task { try await feed.open() }
                for await state in states where state.items.count == 50 {
                    notify.yield(Self.now)
                    break
                }
                _ = try? await opening.value
            },
            runFeeds: { _, _ in }, beginSignUp: { _, _ in })
        let launch = Launch(parts)
        launch.start()
        var shown: UInt64 = 0
        for await instant in told {
            shown = instant
            break
        }
        launch.contentShown()
        launch.close()
        return shown
    }

    /// The time in nanoseconds, by a clock that all processes of this machine share.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// Runs the launched process, offline and with its existing token.
    ///
    /// - Parameters:
    ///   - start: The time at which the process was started.
    ///   - begin: The time at which its own code began.
    static func run(_ folder: URL, since start: UInt64, begin: UInt64) async throws {
        let app = try LaunchedApp(folder: folder, ScriptedTransport(), accounts: NoAccounts())
        let shown = await app.firstContent()
        try BenchmarkChild.report([
            ClientSample("launch", Double(shown - start) / 1e3),
            ClientSample("own", Double(shown - begin) / 1e3),
        ])
        await app.firestore.terminate()
    }
}

/// A network on which no accounts server answers.
struct NoAccounts: AccountsTransport {
    func send(_ request: AccountsRequest) async throws(AccountsUnreachable) -> AccountsReply {
        throw AccountsUnreachable("There is no network.", hadNoEffect: true)
    }
}

/// A device on which a user has signed up and read a feed to its end.
struct LaunchDevice {
    let folder: URL

    /// - Parameter server: The server with the feed's items.
    func prepare(from server: any Transport) async throws {
        let accounts = try await LocalAccounts.start(projectID: "bench")
        var app = try LaunchedApp(
            folder: folder, server, accounts: HTTPAccountsTransport(.local(accounts.host)))
        await app.accounts.load()
        try await app.jobs.signUp(
            .password(email: "ada@example.test", "correct horse battery"),
            profile: ["name": .string("Ada")])
        for await news in app.jobs.news {
            if case .finished = news { break }
        }
        await app.firestore.terminate()
        // From here on, the cache belongs to the user.
        app = try LaunchedApp(
            folder: folder, server, accounts: HTTPAccountsTransport(.local(accounts.host)),
            pageSize: 10_000)
        await app.accounts.load()
        try await app.feed.sync()
        await app.firestore.terminate()
        await accounts.stop()
    }

    struct Launched {
        /// The time in microseconds from the start of the process until the newest items are there.
        let launch: Double
        /// The part of ``launch`` after the first line of the process's own code.
        let own: Double
    }

    func launch() throws -> Launched {
        let samples = try BenchmarkChild.samples([
            "app", "--launch-folder", folder.path, "--launched-at", String(LaunchedApp.now),
        ])
        guard samples.count == 2 else { throw BenchmarkChildError(arguments: ["app"]) }
        return Launched(launch: samples[0].value, own: samples[1].value)
    }
}
