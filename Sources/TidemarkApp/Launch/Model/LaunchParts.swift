/// The parts of a launch. Each part is called at its stage, off the main thread; its task is
/// cancelled when the launch no longer waits for it.
public struct LaunchParts: Sendable {
    /// Opens the device's data. Asks no server.
    public var openLocal: @Sendable () async throws -> LocalFacts
    /// Reads the first content of this user from the device; nil for public content. Asks no
    /// server.
    public var showContent: @Sendable (UserID?) async -> Void
    /// Reads the credential store. Asks no server.
    public var readSession: @Sendable () async -> SessionReading
    /// Asks the server if the user has a profile.
    public var loadProfile: @Sendable (UserID) async -> ProfileReading
    public var setLocalFlag: @Sendable (UserID) async -> Void
    /// Updates feeds continuously, until its task is cancelled. Reports when they become live and
    /// when they stop.
    public var runFeeds:
        @Sendable (UserID, _ isLive: @escaping @Sendable (Bool) -> Void) async -> Void
    /// Finds the reason why the server cannot be reached, after the time for the feeds is over; nil
    /// if it is not known. A ``Doctor`` costs one read.
    public var diagnose: @Sendable () async -> Verdict?
    /// Runs diagnostics, backfill and prefetch at background priority, until it is cancelled.
    public var runBackground: @Sendable () async -> Void
    /// Creates the account and the profile from the input of the onboarding. Its news arrive in
    /// ``news``.
    public var beginSignUp: @Sendable (UserID?, _ step: Int) async -> Void
    public var resumeJob: @Sendable () async -> Void
    public var undoSignUp: @Sendable () async -> Void
    /// Keeps the user's step in the onboarding, for the next launch.
    public var keepStep: @Sendable (Int) async -> Void { didSet { keepingFromNow = nil } }
    /// Returns a function for ``keepStep``, called when the launch asks for it. The function does
    /// nothing if the app has kept a step since. Nil for parts that an app has replaced.
    private(set) var keepingFromNow: (@Sendable () -> @Sendable (Int) async -> Void)?
    public var endSession: @Sendable () async -> Void
    /// The sign-ins and sign-outs.
    public var changes: AsyncStream<SessionChange>
    public var news: AsyncStream<JobNews>

    /// Creates parts that do nothing and can be replaced one by one: for apps without accounts, and
    /// for tests.
    public init(changes: AsyncStream<SessionChange>, news: AsyncStream<JobNews>) {
        openLocal = { LocalFacts() }
        showContent = { _ in }
        readSession = { .signedOut }
        loadProfile = { _ in .unavailable }
        setLocalFlag = { _ in }
        runFeeds = { _, _ in }
        diagnose = { nil }
        runBackground = {}
        beginSignUp = { _, _ in }
        resumeJob = {}
        undoSignUp = {}
        keepStep = { _ in }
        endSession = {}
        self.changes = changes
        self.news = news
    }

    /// Creates the parts of an app with accounts.
    ///
    /// - Parameters:
    ///   - identity: The source of the signed-in user: ``Accounts``, or another library's.
    ///   - jobs: Performs and resumes sign-ups and deletions.
    ///   - files: The launch data on this device.
    ///   - showContent: Reads the first content from the device, without a server.
    ///   - runFeeds: Keeps the user's feeds live, and calls its second argument with true when they
    ///     are live and false when they are not.
    ///   - runBackground: Work that can wait until the feeds are live.
    ///   - beginSignUp: Calls ``AccountJobs/signUp(_:profile:step:)`` with the input of the
    ///     onboarding.
    public init(
        _ identity: any IdentityProvider, jobs: AccountJobs, files: LaunchFiles,
        showContent: @escaping @Sendable (UserID?) async -> Void,
        runFeeds: @escaping @Sendable (UserID, @escaping @Sendable (Bool) -> Void) async -> Void,
        runBackground: @escaping @Sendable () async -> Void = {},
        beginSignUp: @escaping @Sendable (UserID?, Int) async -> Void
    ) {
        self.showContent = showContent
        self.runFeeds = runFeeds
        diagnose = { nil }
        self.runBackground = runBackground
        self.beginSignUp = beginSignUp
        openLocal = {
            let isInJob = try files.record() != nil
            // If the app was killed after the sign-in, only the session may name the user of the
            // sign-up.
            if isInJob { await identity.load() }
            let known = files.known
            var last = known.lastUser
            // After an update from another library, no user is recorded, but the app can have
            // loaded the session.
            if last == nil, !isInJob, case .signedIn(let user) = identity.state { last = user }
            return LocalFacts(
                lastUser: last, completeProfile: known.completeProfile,
                unfinished: try jobs.unfinished())
        }
        readSession = { await identity.load() }
        loadProfile = { await jobs.profiles.look(for: $0) }
        setLocalFlag = { user in
            try? files.update { facts in
                facts.completeProfile = user
                facts.lastUser = user
            }
            await jobs.profileFound(user)
        }
        resumeJob = { await jobs.resume() }
        undoSignUp = { await jobs.giveUp() }
        keepStep = { try? await jobs.keep(step: $0) }
        keepingFromNow = { jobs.keepingFromNow() }
        endSession = { try? await identity.signOut() }
        changes = identity.changes
        news = jobs.news
    }
}
