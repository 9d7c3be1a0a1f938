import CoreMetrics
import MetricsTestKit
import Testing
import Tidemark
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

/// The tasks that a test starts inherit the test's own metrics factory.
@Suite(.timeLimit(.minutes(2))) struct `Metrics of launches and jobs` {
    private let metrics = TestMetrics()
    private let server = ScriptedAccounts()
    private let store = ScriptedStore()
    private let folder = TestFolder()
    private let way = AccountJobs.Way.password(email: "a@b.c", "secret")

    private func total(_ label: String, _ outcome: String) -> Int64 {
        metrics.counterTotal(label: label, dimensions: [("outcome", outcome)])
    }

    private func jobs(_ outcome: String) -> Int64 { total("tidemark_account_jobs", outcome) }

    /// Starts the app on the stored files. The jobs do not wait between two attempts.
    private static func start(
        _ firestore: Firestore, _ server: ScriptedAccounts, _ store: ScriptedStore,
        _ folder: String
    ) async throws -> AccountJobs {
        let files = try LaunchFiles(folder: folder)
        let accounts = Accounts(server, store: store, installation: files.installation)
        await accounts.load()
        return AccountJobs(
            accounts, profiles: FirestoreProfiles(firestore), files: files, probe: nil
        ) { _ in }
    }

    private func journal() throws -> Double? {
        try metrics.expectGauge("tidemark_account_journal_since").lastValue
    }

    @Test func `count what a sign-up comes to, over a launch, and a removal`() async throws {
        try await LocalFirestore.withClient { _, firestore in
            try await withMetricsFactory(metrics) {
                var app = try await Self.start(firestore, server, store, folder.path)
                var news = app.news.makeAsyncIterator()
                server.fail(
                    "accounts:signUp", .neverSent, .neverSent, .neverSent, .neverSent)
                try await app.signUp(way, profile: ["name": .string("Ada")])
                #expect(await news.next() == .waiting)
                #expect(jobs("waiting") == 1 && jobs("finished") == 0)
                #expect(try journal() ?? 0 > 0, "since when it stands there")
                #expect(total("tidemark_signup_recoveries", "tried") == 0)

                app = try await Self.start(firestore, server, store, folder.path)
                news = app.news.makeAsyncIterator()
                await app.resume()
                #expect(await news.next() == .finished(UserID("u1")!))
                #expect(jobs("waiting") == 1 && jobs("finished") == 1)
                #expect(total("tidemark_profile_creations", "created") == 1)
                #expect(total("tidemark_signup_recoveries", "tried") == 1)
                #expect(total("tidemark_signup_recoveries", "finished") == 1)
                #expect(try journal() == 0)

                // The scripted tokens do not contain the time of the sign-in, so the user is asked.
                await app.deleteAccount()
                #expect(await news.next() == .needsPerson(step: 0))
                #expect(jobs("needs_person") == 1)
            }
        }
    }

    @Test func `count a sign-in that comes first, and one that is given up`() async throws {
        try await LocalFirestore.withClient { _, firestore in
            try await withMetricsFactory(metrics) {
                let app = try await Self.start(firestore, server, store, folder.path)
                var news = app.news.makeAsyncIterator()
                try await app.signIn(way)
                #expect(await news.next() == .signedIn(UserID("u1")!))
                #expect(jobs("signed_in") == 1 && jobs("removed") == 0)
                await app.giveUp()
                #expect(await news.next() == .removed)
                #expect(jobs("removed") == 1 && server.accounts == 0)
                #expect(total("tidemark_profile_creations", "created") == 0)
                #expect(try journal() == 0)
            }
        }
    }

    @Test func `time each state of a launch, by its name alone`() throws {
        let clock = ManualClock()
        let changes = AsyncStream.makeStream(of: SessionChange.self)
        let news = AsyncStream.makeStream(of: JobNews.self)
        // The test answers in place of the parts, so each change of state happens in the test's
        // task.
        let never = AsyncStream.makeStream(of: Void.self)
        let unanswered: @Sendable () async -> Void = { for await _ in never.stream {} }
        var parts = LaunchParts(changes: changes.stream, news: news.stream)
        parts.openLocal = {
            await unanswered()
            return LocalFacts()
        }
        parts.readSession = {
            await unanswered()
            return .signedOut
        }
        parts.loadProfile = { _ in
            await unanswered()
            return .unavailable
        }
        let launch = Launch(parts, clock: clock)
        let user = try #require(UserID("ada"))
        withMetricsFactory(metrics) {
            launch.start()
            clock.advance(by: .milliseconds(40))
            launch.send(.localReady(LocalFacts()))
            clock.advance(by: .milliseconds(5))
            launch.contentShown()
            clock.advance(by: .milliseconds(7))
            launch.send(.session(.signedIn(user)))
            clock.advance(by: .seconds(3))
            launch.send(.profile(.found, of: user))
        }
        launch.close()
        never.continuation.finish()
        let times = [
            "cold": Duration.milliseconds(40), "localReady": .milliseconds(5),
            "sessionUnknown": .milliseconds(7), "signedIn": .seconds(3),
        ]
        for (state, time) in times {
            let timer = try metrics.expectTimer(
                "tidemark_launch_state_time", [("state", state)])
            #expect(timer.values == [Int64(time / .nanoseconds(1))], "\(state)")
        }
        #expect(metrics.timers.count == times.count, "and of nobody's name")
    }
}
