import Foundation
import Synchronization
import Testing
import TestSupport
import Tidemark
import TidemarkServer

@testable import TidemarkApp

/// A device and its servers. A test can relaunch the app on the device's files.
private final class JobDevice {
    let folder = TestFolder()
    let accountsServer = ScriptedAccounts()
    let server: FirestoreServer
    let profiles: UnsureProfiles
    private(set) var files: LaunchFiles
    private(set) var accounts: Accounts
    private(set) var jobs: AccountJobs
    private let firestore: Firestore

    init() throws {
        server = try FirestoreServer(.init())
        firestore = try Firestore(
            projectID: "p", settings: FirestoreSettings(cache: .memory),
            environment: .live(server))
        profiles = UnsureProfiles(FirestoreProfiles(firestore))
        (files, accounts, jobs) = try Self.start(folder, accountsServer, profiles)
    }

    private static func start(
        _ folder: TestFolder, _ server: ScriptedAccounts, _ profiles: UnsureProfiles
    ) throws -> (LaunchFiles, Accounts, AccountJobs) {
        let files = try LaunchFiles(folder: folder.path)
        let store = try FileCredentialStore(folder: folder.path, key: nil)
        let accounts = Accounts(server, store: store, installation: files.installation)
        let jobs = AccountJobs(accounts, profiles: profiles, files: files, probe: nil) { _ in }
        return (files, accounts, jobs)
    }

    /// Starts the app again, without the pending work of the previous run.
    ///
    /// - Parameter loads: True to read the session immediately.
    func relaunch(loads: Bool = true) async throws {
        (files, accounts, jobs) = try Self.start(folder, accountsServer, profiles)
        if loads { await accounts.load() }
    }

    func profile(_ user: String) async throws -> MapValue? {
        try await firestore.document("users/" + user).getDocument(source: .server).fields
    }

    func news() async -> JobNews? {
        for await news in jobs.news { return news }
        return nil
    }
}

/// A profile store whose answers get lost, whose calls are not sent, or whose calls hang.
private final class UnsureProfiles: ProfileStore {
    enum Fault: Hashable { case lostAnswer, neverSent, hangs }

    private let base: FirestoreProfiles
    private let faults = Mutex<[String: [Fault]]>([:])
    private let hanging = Mutex<Set<String>>([])

    init(_ base: FirestoreProfiles) { self.base = base }

    func fail(_ call: String, _ list: Fault...) { faults.withLock { $0[call] = list } }

    /// Returns once a call hangs.
    func untilHanging(_ call: String) async throws {
        try await until("\(call) hangs") { hanging.withLock { $0.contains(call) } }
    }

    private func run<T: Sendable>(
        _ call: String, _ failure: T, _ body: () async -> T
    ) async -> T {
        let fault = faults.withLock { faults -> Fault? in
            guard let list = faults[call], !list.isEmpty else { return nil }
            return faults[call]?.removeFirst()
        }
        if fault == .neverSent { return failure }
        let result = await body()
        if fault == .hangs {
            hanging.withLock { _ = $0.insert(call) }
            let (never, input) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            input.finish()
        }
        return fault == nil ? result : failure
    }

    func create(_ user: UserID, _ fields: MapValue, id: String) async -> ProfileAnswer {
        await run("create", .unreachable) { await base.create(user, fields, id: id) }
    }
    func compare(_ user: UserID, _ fields: MapValue, id: String) async -> ProfileComparison {
        await run("compare", .unreachable) { await base.compare(user, fields, id: id) }
    }
    func remove(_ user: UserID, onlyID: String?) async -> RemovalAnswer {
        await run("remove", .unreachable) { await base.remove(user, onlyID: onlyID) }
    }
    func look(for user: UserID) async -> ProfileReading { await base.look(for: user) }
}

struct `Sign-ups and removals` {
    private let device: JobDevice
    private let way = AccountJobs.Way.password(email: "a@b.c", "secret")
    private let profile: MapValue = ["name": .string("Ada")]

    init() throws { device = try JobDevice() }

    private func expectComplete(_ user: String = "u1") async throws {
        #expect(device.accountsServer.accounts == 1)
        #expect(try await device.profile(user)?["name"] == .string("Ada"))
        #expect(device.files.known.completeProfile == UserID(user))
        #expect(try device.files.record() == nil)
        #expect(device.accounts.user == UserID(user) && !device.accounts.isOfSignUp)
    }

    private func expectNothing() async throws {
        #expect(device.accountsServer.accounts == 0)
        #expect(try await device.profile("u1") == nil)
        #expect(device.files.known.completeProfile == nil)
        #expect(try device.files.record() == nil && device.accounts.user == nil)
        #expect(try device.accounts.store.read(.signUp) == nil)
    }

    @Test(.timeLimit(.minutes(2))) func `make an account and its profile`() async throws {
        try await device.jobs.signUp(way, profile: profile)
        #expect(await device.news() == .finished(UserID("u1")!))
        try await expectComplete()
    }

    @Test(.timeLimit(.minutes(2))) func `make one account, though its answers are lost`()
        async throws
    {
        device.accountsServer.fail("accounts:signUp", .lostAnswer, .neverSent)
        device.accountsServer.fail("accounts:signInWithPassword", .lostAnswer)
        device.profiles.fail("create", .lostAnswer, .neverSent)
        device.profiles.fail("compare", .neverSent)
        try await device.jobs.signUp(way, profile: profile)
        #expect(await device.news() == .finished(UserID("u1")!))
        #expect(device.accountsServer.made == 1)
        try await expectComplete()
    }

    @Test(.timeLimit(.minutes(2)))
    func `are known at a launch by the session that they have made`()
        async throws
    {
        device.profiles.fail("create", .hangs)
        try await device.jobs.signUp(way, profile: profile, step: 3)
        try await device.profiles.untilHanging("create")
        // The journal looks like this between the new session and the journal's next entry.
        var record = try #require(try device.files.record())
        record.phase = .account
        try device.files.setRecord(record)
        try await device.relaunch(loads: false)
        let parts = LaunchParts(
            device.accounts, jobs: device.jobs, files: device.files, showContent: { _ in },
            runFeeds: { _, _ in }, beginSignUp: { _, _ in })
        let facts = try await parts.openLocal()
        #expect(facts.unfinished == UnfinishedJob(.signUp, user: UserID("u1"), step: 3))
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["create", "compare"])
    func `go on after being killed in the middle of it`(call: String) async throws {
        device.profiles.fail(call, .hangs)
        try await device.jobs.signUp(way, profile: profile, step: 3)
        try await device.profiles.untilHanging(call)
        try await device.relaunch()
        #expect(
            try device.jobs.unfinished() == UnfinishedJob(.signUp, user: UserID("u1"), step: 3))
        await device.jobs.resume()
        #expect(await device.news() == .finished(UserID("u1")!))
        try await expectComplete()
    }

    @Test(.timeLimit(.minutes(2))) func `wait for a network, and go on when it is there`()
        async throws
    {
        device.profiles.fail("create", .neverSent, .neverSent, .neverSent, .neverSent)
        try await device.jobs.signUp(way, profile: profile)
        #expect(await device.news() == .waiting)
        await device.jobs.resume()
        #expect(await device.news() == .finished(UserID("u1")!))
        try await expectComplete()
    }

    @Test(.timeLimit(.minutes(2))) func `ask the person about an address that is taken`()
        async throws
    {
        let other = Accounts(device.accountsServer, store: ScriptedStore())
        try await other.signUp(email: "a@b.c", password: "another")
        try await device.jobs.signUp(way, profile: profile, step: 2)
        #expect(await device.news() == .needsPerson(step: 2))
        #expect(device.accountsServer.made == 1 && device.accounts.user == nil)
        try await device.jobs.signUp(.password(email: "d@e.f", "secret"), profile: profile)
        #expect(await device.news() == .finished(UserID("u2")!))
    }

    @Test(.timeLimit(.minutes(2))) func `undo what they made when they are given up`() async throws
    {
        device.profiles.fail("compare", .neverSent, .neverSent, .neverSent, .neverSent)
        try await device.jobs.signUp(way, profile: profile)
        #expect(await device.news() == .waiting)
        #expect(device.accountsServer.accounts == 1)
        await device.jobs.giveUp()
        #expect(await device.news() == .removed)
        try await expectNothing()
    }

    @Test(.timeLimit(.minutes(2)))
    func `undo an account whose answer never came, after a launch`() async throws {
        device.accountsServer.fail(
            "accounts:signUp", .lostAnswer, .neverSent, .neverSent, .neverSent)
        try await device.jobs.signUp(way, profile: profile)
        #expect(await device.news() == .waiting)
        try await device.relaunch()
        await device.jobs.giveUp()
        #expect(await device.news() == .removed)
        #expect(device.accountsServer.made == 1)
        try await expectNothing()
    }

    @Test(.timeLimit(.minutes(2)))
    func `undo the account of an address that is given up for another`() async throws {
        device.accountsServer.fail(
            "accounts:signUp", .lostAnswer, .neverSent, .neverSent, .neverSent)
        try await device.jobs.signUp(way, profile: profile)
        #expect(await device.news() == .waiting)
        try await device.jobs.signUp(.password(email: "d@e.f", "secret"), profile: profile)
        #expect(await device.news() == .finished(UserID("u2")!))
        try await expectComplete("u2")
    }

    @Test(.timeLimit(.minutes(2))) func `keep a profile that was there before`() async throws {
        let other = Accounts(device.accountsServer, store: ScriptedStore())
        let user = try await other.signUp(email: "a@b.c", password: "secret")
        _ = await device.profiles.create(user, ["name": .string("Older")], id: "other")
        try await device.jobs.signUp(way, profile: profile)
        #expect(await device.news() == .finished(user))
        #expect(try await device.profile("u1")?["name"] == .string("Older"))
    }

    @Test(.timeLimit(.minutes(2))) func `need no address of a person`() async throws {
        device.accountsServer.fail("accounts:signUp", .lostAnswer)
        try await device.jobs.signUp(.installation, profile: profile)
        #expect(await device.news() == .finished(UserID("u1")!))
        #expect(device.accountsServer.made == 1)
        try await device.accounts.link(email: "a@b.c", password: "secret")
        #expect(device.accounts.user == UserID("u1"))
    }

    @Test(.timeLimit(.minutes(2))) func `write the profile of an account that has none`()
        async throws
    {
        try await device.accounts.signUp(email: "a@b.c", password: "secret")
        await device.jobs.completeProfile(profile)
        #expect(await device.news() == .finished(UserID("u1")!))
        try await expectComplete()
    }
}
