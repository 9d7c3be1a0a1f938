import Synchronization
import Testing
import TestSupport
import Tidemark
import TidemarkServer

@testable import TidemarkApp

/// Tests an identity on a library whose accounts are on a scripted server.
@Suite(.timeLimit(.minutes(2))) struct `A library's identity` {
    private let server = ScriptedAccounts()
    private let library: OtherLibrary
    private let identity: LibraryIdentity

    init() {
        library = OtherLibrary(server)
        identity = LibraryIdentity(library)
    }

    private let folder = TestFolder()

    private func client() throws -> Firestore {
        try Firestore(
            projectID: "p", settings: FirestoreSettings(cache: .directory(folder.path)),
            environment: .live(try FirestoreServer(.init())))
    }

    /// Returns true if the present user of the client has written the document.
    private func has(_ path: String, _ firestore: Firestore) async -> Bool {
        (try? await firestore.document(path).getDocument(source: .cache))?.exists ?? false
    }

    @Test func `is unknown until the library knows its user, and then nobody's`() async throws {
        #expect(identity.state == .unknown)
        let reading = Task { [identity] in await identity.load() }
        await library.start()
        #expect(await reading.value == .signedOut)
        #expect(identity.state == .signedOut(.nobody))
    }

    @Test func `cannot be read if the library never tells`() async throws {
        let reading = Task { [identity] in await identity.load() }
        library.fail()
        #expect(await reading.value == .failed)
        let failure = await #expect(throws: RPCStatus.self) { try await identity.token() }
        #expect(failure?.code == .unavailable)
    }

    @Test func `tells each later change in order, and never the first`() async throws {
        var changes = identity.changes.makeAsyncIterator()
        await library.start()
        await identity.load()
        let ada = try await library.signUp(email: "a@b.c", "secret")
        #expect(await changes.next() == .signedIn(ada))
        let bob = try await library.signUp(email: "d@e.f", "secret")
        #expect(await changes.next() == .signedIn(bob))
        try await library.signOut()
        #expect(await changes.next() == .signedOut(.asked))
    }

    @Test func `changes the client's user before it tells, and waits with tokens`() async throws {
        let firestore = try client()
        identity.attach(firestore)
        let token = Task { [identity] in try await identity.token() }
        var changes = identity.changes.makeAsyncIterator()
        await library.start()
        #expect(try await token.value == nil, "nobody is signed in")
        let ada = try await library.signUp(email: "a@b.c", "secret")
        #expect(await changes.next() == .signedIn(ada))
        #expect(try await identity.token()?.contains("-\(ada)-") == true)
        await firestore.disableNetwork()
        _ = try await firestore.document("rooms/a").enqueueSetData(["n": 1])
        #expect(await has("rooms/a", firestore))
        try await library.signOut()
        #expect(await changes.next() == .signedOut(.asked))
        #expect(await !has("rooms/a", firestore), "the documents are Ada's")
        try await library.signIn(email: "a@b.c", "secret")
        #expect(await changes.next() == .signedIn(ada))
        #expect(await has("rooms/a", firestore))
        try await identity.signOut(.asked, erasing: true)
        try await library.signIn(email: "a@b.c", "secret")
        try await until("Ada is back") { identity.user == ada }
        #expect(await !has("rooms/a", firestore), "her data were deleted")
        await firestore.terminate()
    }

    @Test func `gives a client that is attached later the user at once`() async throws {
        await library.start()
        let ada = try await library.signUp(email: "a@b.c", "secret")
        try await until("the user is known") { identity.user == ada }
        let firestore = try client()
        await firestore.disableNetwork()
        try await firestore.changeUser(to: ada.text)
        _ = try await firestore.document("rooms/a").enqueueSetData(["n": 1])
        try await firestore.changeUser(to: nil)
        identity.attach(firestore)
        #expect(try await identity.token()?.contains("-\(ada)-") == true)
        #expect(await has("rooms/a", firestore), "the user changed before the token was given")
        await firestore.terminate()
    }

    @Test func `says that the session has expired if the server refused the token`() async throws {
        await library.start()
        _ = try await library.signUp(email: "a@b.c", "secret")
        try await until("the user is known") { identity.user != nil }
        var changes = identity.changes.makeAsyncIterator()
        library.refusal.withLock { $0 = .sessionExpired }
        let failure = await #expect(throws: RPCStatus.self) { try await identity.token() }
        #expect(failure?.code == .unauthenticated)
        try await library.signOut()
        #expect(await changes.next() == .signedOut(.expired))
    }

    @Test func `signs out here as it does there, with the reason`() async throws {
        await library.start()
        let ada = try await library.signUp(email: "a@b.c", "secret")
        try await until("the user is known") { identity.user == ada }
        var changes = identity.changes.makeAsyncIterator()
        try await identity.signOut(.removed, erasing: false)
        #expect(await changes.next() == .signedOut(.removed))
        #expect(library.user == nil && identity.state == .signedOut(.removed))
        await #expect(throws: AccountError.signedOut) {
            try await identity.deleteAccount(of: ada)
        }
    }
}

/// A device whose users sign in by another library. A test can relaunch the app.
private final class LibraryDevice {
    let folder = TestFolder()
    let server = ScriptedAccounts()
    let store = ScriptedStore()
    let firestore: Firestore
    private(set) var library: OtherLibrary
    private(set) var identity: LibraryIdentity
    private(set) var files: LaunchFiles
    private(set) var jobs: AccountJobs

    init() throws {
        firestore = try Firestore(
            projectID: "p", settings: FirestoreSettings(cache: .memory),
            environment: .live(try FirestoreServer(.init())))
        (library, identity, files, jobs) = try Self.start(folder, server, store, firestore, nil)
    }

    private static func start(
        _ folder: TestFolder, _ server: ScriptedAccounts, _ store: ScriptedStore,
        _ firestore: Firestore, _ probe: AccountJobs.Probe?
    ) throws -> (OtherLibrary, LibraryIdentity, LaunchFiles, AccountJobs) {
        let library = OtherLibrary(server, store: store)
        let identity = LibraryIdentity(library)
        let files = try LaunchFiles(folder: folder.path)
        let secrets = try FileCredentialStore(folder: folder.path, key: nil)
        let jobs = AccountJobs(
            identity, secrets: secrets, profiles: FirestoreProfiles(firestore), files: files,
            probe: probe
        ) { _ in }
        return (library, identity, files, jobs)
    }

    func relaunch(_ probe: AccountJobs.Probe? = nil) async throws {
        (library, identity, files, jobs) = try Self.start(folder, server, store, firestore, probe)
        await library.start()
        await identity.load()
    }

    func profile(_ user: UserID) async throws -> MapValue? {
        try await firestore.document("users/\(user)").getDocument(source: .server).fields
    }

    func news() async -> JobNews? {
        for await news in jobs.news { return news }
        return nil
    }

    func expectNothing(of user: UserID) async throws {
        #expect(server.accounts == 0 && identity.user == nil && library.user == nil)
        #expect(try await profile(user) == nil)
        #expect(try files.record() == nil)
        #expect(files.known.completeProfile == nil && files.known.removing == nil)
    }
}

@Suite(.timeLimit(.minutes(2))) struct `Jobs of another library's user` {
    private let device: LibraryDevice
    private let way = AccountJobs.Way.password(email: "a@b.c", "secret")
    private let profile: MapValue = ["name": .string("Ada")]
    private let ada = UserID("u1")!

    init() throws { device = try LibraryDevice() }

    private func signUp() async throws {
        try await device.relaunch()
        try await device.jobs.signUp(way, profile: profile)
        #expect(await device.news() == .finished(ada))
    }

    @Test func `make one account and its profile, though an answer is lost`() async throws {
        device.server.fail("accounts:signUp", .lostAnswer)
        try await signUp()
        #expect(device.server.made == 1 && device.identity.user == ada)
        #expect(try await device.profile(ada)?["name"] == .string("Ada"))
        #expect(device.files.known.completeProfile == ada)
        #expect(try device.files.record() == nil)
    }

    @Test func `write the profile of a user who signed in by the library`() async throws {
        try await device.relaunch()
        _ = try await device.library.signUp(email: "a@b.c", "secret")
        try await until("the user is known") { device.identity.user == ada }
        await device.jobs.completeProfile(profile)
        #expect(await device.news() == .finished(ada))
        #expect(try await device.profile(ada)?["name"] == .string("Ada"))
    }

    /// The app is killed between the library's sign-up and the next entry of the journal.
    @Test func `are known at the next launch by the library's session`() async throws {
        try await signUp()
        try device.files.setRecord(
            AccountRecord(
                id: "j1", method: .password(email: "a@b.c"),
                profile: FieldsCodec.encode(profile), step: 2, phase: .account))
        let secrets = try FileCredentialStore(folder: device.folder.path, key: nil)
        try secrets.write(.signUp, Array(#"{"password":"secret"}"#.utf8))
        try await device.relaunch()
        #expect(
            try device.jobs.unfinished() == UnfinishedJob(.signUp, user: ada, step: 2))
        await device.jobs.resume()
        #expect(await device.news() == .finished(ada))
        #expect(device.server.made == 1)
    }

    @Test func `undo what they made`() async throws {
        try await device.relaunch()
        device.server.fail(
            "accounts:signUp", .lostAnswer, .neverSent, .neverSent, .neverSent)
        try await device.jobs.signUp(way, profile: profile)
        #expect(await device.news() == .waiting)
        await device.jobs.giveUp()
        #expect(await device.news() == .removed)
        #expect(device.server.made == 1)
        try await device.expectNothing(of: ada)
    }

    @Test func `ask for a new sign-in before anything is deleted`() async throws {
        try await signUp()
        // The scripted server's tokens do not contain the time of the sign-in.
        await device.jobs.deleteAccount()
        #expect(await device.news() == .needsPerson(step: 0))
        #expect(device.server.accounts == 1)
        #expect(try await device.profile(ada) != nil)
    }

    /// FirebaseAuth ends its session with the account, and the journal is cleared later. A launch
    /// in between must not ask for a sign-in that is no longer possible.
    @Test func `end a removal that was killed after the account was gone`() async throws {
        try await signUp()
        try device.files.update { $0.removing = ada }
        try device.files.setRecord(
            AccountRecord(id: "j2", method: .customToken, profile: [], phase: .deleting(ada)))
        _ = await FirestoreProfiles(device.firestore).remove(ada, onlyID: nil)
        try await device.library.deleteAccount()
        try await device.relaunch()
        #expect(device.identity.state == .signedOut(.nobody))
        await device.jobs.resume()
        #expect(await device.news() == .removed)
        try await device.expectNothing(of: ada)
    }

    /// The library still has a session: the account was not deleted yet.
    @Test func `repeat a removal that was killed before the account was gone`() async throws {
        try await signUp()
        try device.files.update { $0.removing = ada }
        try device.files.setRecord(
            AccountRecord(id: "j2", method: .customToken, profile: [], phase: .undoing(ada, .made)))
        try await device.relaunch()
        await device.jobs.resume()
        #expect(await device.news() == .removed)
        // A profile with another id is not this job's: account and profile stay.
        #expect(device.server.accounts == 1)
    }
}
