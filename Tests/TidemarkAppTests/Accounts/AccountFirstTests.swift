import Foundation
import Synchronization
import Testing
import Tidemark
import TidemarkServer

@testable import TidemarkApp

/// A device whose calls about profiles fail while it is offline.
private final class Device {
    struct Profile: Codable, Equatable, Sendable {
        var name: String
        var members: [String]
    }

    private final class Line: ProfileStore {
        let base: FirestoreProfiles
        let isOffline = Mutex(false)
        init(_ base: FirestoreProfiles) { self.base = base }
        private var isCut: Bool { isOffline.withLock { $0 } }

        func create(_ user: UserID, _ fields: MapValue, id: String) async -> ProfileAnswer {
            isCut ? .unreachable : await base.create(user, fields, id: id)
        }
        func compare(
            _ user: UserID, _ fields: MapValue, id: String
        ) async -> ProfileComparison {
            isCut ? .unreachable : await base.compare(user, fields, id: id)
        }
        func remove(_ user: UserID, onlyID: String?) async -> RemovalAnswer {
            isCut ? .unreachable : await base.remove(user, onlyID: onlyID)
        }
        func look(for user: UserID) async -> ProfileReading {
            isCut ? .unavailable : await base.look(for: user)
        }
    }

    let folder = TestFolder()
    let server = ScriptedAccounts()
    let firestore: Firestore
    private let line: Line

    init() throws {
        let backend = try FirestoreServer(.init())
        firestore = try Firestore(
            projectID: "p", settings: FirestoreSettings(cache: .memory),
            environment: .live(backend))
        line = Line(FirestoreProfiles(firestore))
    }

    func goOffline(_ isOffline: Bool) { line.isOffline.withLock { $0 = isOffline } }

    /// Starts the app on the stored data of the device.
    func run() async throws -> (Accounts, AccountJobs, LaunchFiles) {
        let files = try LaunchFiles(folder: folder.path)
        let accounts = Accounts(
            server, store: try FileCredentialStore(folder: folder.path, key: nil),
            installation: files.installation)
        let jobs = AccountJobs(accounts, profiles: line, files: files, probe: nil) { _ in }
        await accounts.load()
        return (accounts, jobs, files)
    }

    func profile(_ user: UserID) async throws -> Profile? {
        let document = firestore.document("users/" + user.text)
        let snapshot = try await document.getDocument(source: .server)
        return snapshot.exists ? try snapshot.data(as: Profile.self) : nil
    }
}

@Suite(.timeLimit(.minutes(2))) struct `An account before its onboarding` {
    private let device: Device
    private let apple = AccountJobs.Way.provider(
        ProviderCredential(provider: "apple.com", idToken: "ada"))
    private let ada = Device.Profile(name: "Ada", members: ["Ida", "Oda"])

    init() throws { device = try Device() }

    private func next(_ jobs: AccountJobs) async -> JobNews? {
        for await news in jobs.news { return news }
        return nil
    }

    @Test func `is made first, and its profile last`() async throws {
        let (accounts, jobs, files) = try await device.run()
        try await jobs.signIn(apple)
        guard case .signedIn(let user)? = await next(jobs) else {
            Issue.record("no account")
            return
        }
        #expect(accounts.user == user && device.server.accounts == 1)
        #expect(try await device.profile(user) == nil)
        try await jobs.keep(step: 2, draft: ["name": "Ada"])
        try await jobs.completeProfile(ada, step: 3)
        #expect(await next(jobs) == .finished(user))
        #expect(try await device.profile(user) == ada)
        #expect(try files.record() == nil && files.known.completeProfile == user)
    }

    @Test func `and its draft survive a kill, and steps that say nothing of it`() async throws {
        var (accounts, jobs, _) = try await device.run()
        try await jobs.signIn(apple)
        let user = try #require(
            await next(jobs).flatMap { news in
                if case .signedIn(let user) = news { user } else { nil }
            })
        try await jobs.keep(step: 1, draft: Device.Profile(name: "Ada", members: []))
        try await jobs.keep(step: 2)
        (accounts, jobs, _) = try await device.run()
        #expect(accounts.user == user)
        #expect(try jobs.unfinished() == UnfinishedJob(.filling, user: user, step: 2))
        #expect(
            try jobs.draft(as: Device.Profile.self) == Device.Profile(name: "Ada", members: []))
        try await jobs.completeProfile(ada, step: 3)
        #expect(await next(jobs) == .finished(user))
        #expect(try jobs.draft() == nil)
    }

    /// A launch keeps its steps in tasks of their own. The step at which the onboarding begins was
    /// once kept after the app's next step, and the next launch took the user back.
    @Test func `keeps the app's step though the launch's earlier step comes later`() async throws {
        let (_, jobs, _) = try await device.run()
        let first = jobs.keepingFromNow()
        let second = jobs.keepingFromNow()
        try await jobs.keep(step: 1, draft: ["name": "Ada"])
        let third = jobs.keepingFromNow()
        await second(7)
        await first(0)
        #expect(try jobs.unfinished()?.step == 1)
        await third(2)
        #expect(try jobs.unfinished()?.step == 2 && jobs.draft() == ["name": .string("Ada")])
    }

    @Test func `a launch takes the order of steps from the jobs, unless its part is replaced`()
        async throws
    {
        let (accounts, jobs, files) = try await device.run()
        var parts = LaunchParts(
            accounts, jobs: jobs, files: files, showContent: { _ in }, runFeeds: { _, _ in },
            beginSignUp: { _, _ in })
        #expect(parts.keepingFromNow != nil)
        parts.keepStep = { _ in }
        #expect(parts.keepingFromNow == nil)
    }

    @Test func `whose answer was lost is found by the next launch, and is one`() async throws {
        device.server.fail("accounts:signInWithIdp", .lostAnswer)
        var (accounts, jobs, _) = try await device.run()
        try await jobs.signIn(apple)
        _ = await next(jobs)
        (accounts, jobs, _) = try await device.run()
        #expect(device.server.made == 1 && device.server.accounts == 1)
        #expect(accounts.user != nil)
    }

    @Test func `is deleted when it is given up, and one from before is not`() async throws {
        var (accounts, jobs, files) = try await device.run()
        try await jobs.signIn(apple)
        _ = await next(jobs)
        await jobs.giveUp()
        #expect(await next(jobs) == .removed)
        #expect(device.server.accounts == 0 && accounts.user == nil)
        #expect(try files.record() == nil)
        // This account exists before the sign-up and has no profile.
        try await accounts.signIn(with: ProviderCredential(provider: "apple.com", idToken: "ada"))
        try await accounts.signOut()
        (accounts, jobs, files) = try await device.run()
        try await jobs.signIn(apple)
        _ = await next(jobs)
        await jobs.giveUp()
        #expect(await next(jobs) == .removed)
        #expect(device.server.accounts == 1, "it is not this sign-up's")
        #expect(accounts.user == nil)
    }

    @Test func `of somebody who has a profile needs no onboarding`() async throws {
        let (_, jobs, files) = try await device.run()
        try await jobs.signIn(apple)
        guard case .signedIn(let user)? = await next(jobs) else { return }
        await jobs.profileFound(user)
        #expect(await next(jobs) == .finished(user))
        #expect(try files.record() == nil && files.known.completeProfile == user)
    }

    @Test func `goes on by itself when the network is back`() async throws {
        let (_, jobs, _) = try await device.run()
        try await jobs.signIn(apple)
        guard case .signedIn(let user)? = await next(jobs) else { return }
        device.goOffline(true)
        try await jobs.completeProfile(ada)
        #expect(await next(jobs) == .waiting)
        await jobs.networkMayBeBack()
        #expect(await next(jobs) == .waiting, "it was not")
        device.goOffline(false)
        await jobs.networkMayBeBack()
        #expect(await next(jobs) == .finished(user))
        #expect(try await device.profile(user) == ada)
    }

    @Test func `cannot have a profile that no document can hold`() async throws {
        struct Bad: Encodable, Sendable { let at = FieldValue.serverTimestamp() }
        let (_, jobs, files) = try await device.run()
        await #expect(throws: (any Error).self) {
            try await jobs.signUp(.installation, profile: Bad())
        }
        #expect(try files.record() == nil)
    }
}
