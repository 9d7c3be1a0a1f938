/// What a launch is made of: each part is called when its turn has come, off the main thread, and its
/// task is cancelled when nobody waits for it any more.
public struct LaunchParts: Sendable {
    /// Opens what the device holds. Asks no server.
    public var openLocal: @Sendable () async throws -> LocalFacts
    /// Reads the first content of this user from the device; nil for what everybody may see. Asks no
    /// server.
    public var showContent: @Sendable (UserID?) async -> Void
    /// Asks the credential store, and no server.
    public var readSession: @Sendable () async -> SessionReading
    /// Asks the server whether there is a profile.
    public var loadProfile: @Sendable (UserID) async -> ProfileReading
    public var setLocalFlag: @Sendable (UserID) async -> Void
    /// Brings feeds up to date and keeps them so, until its task is cancelled. Says when they are live
    /// and when they are not.
    public var runFeeds:
        @Sendable (UserID, _ isLive: @escaping @Sendable (Bool) -> Void) async -> Void
    /// Diagnostics, backfill, prefetch: at background priority, until it is cancelled.
    public var runBackground: @Sendable () async -> Void
    /// Makes account and profile of what the onboarding has asked for. Its news come in ``news``.
    public var beginSignUp: @Sendable (UserID?, _ step: Int) async -> Void
    public var resumeJob: @Sendable () async -> Void
    public var undoSignUp: @Sendable () async -> Void
    public var keepStep: @Sendable (Int) async -> Void
    public var endSession: @Sendable () async -> Void
    /// Sign-ins and sign-outs.
    public var changes: AsyncStream<SessionChange>
    public var news: AsyncStream<JobNews>

    /// Parts that do nothing, to be put in their places one by one: for apps without accounts, and for
    /// tests.
    public init(changes: AsyncStream<SessionChange>, news: AsyncStream<JobNews>) {
        openLocal = { LocalFacts() }
        showContent = { _ in }
        readSession = { .signedOut }
        loadProfile = { _ in .unavailable }
        setLocalFlag = { _ in }
        runFeeds = { _, _ in }
        runBackground = {}
        beginSignUp = { _, _ in }
        resumeJob = {}
        undoSignUp = {}
        keepStep = { _ in }
        endSession = {}
        self.changes = changes
        self.news = news
    }

    /// Those of an app with accounts.
    ///
    /// - Parameters:
    ///   - accounts: Says who is signed in.
    ///   - jobs: Performs and resumes sign-ups and deletions.
    ///   - files: What a launch keeps on this device.
    ///   - showContent: Reads the first content from the device, and asks no server.
    ///   - runFeeds: Keeps the user's feeds live, and calls its second argument with whether they
    ///     are.
    ///   - runBackground: What may wait until the feeds are live.
    ///   - beginSignUp: Calls ``AccountJobs/signUp(_:profile:step:)`` with what the onboarding asked.
    public init(
        _ accounts: Accounts, _ jobs: AccountJobs, _ files: LaunchFiles,
        showContent: @escaping @Sendable (UserID?) async -> Void,
        runFeeds: @escaping @Sendable (UserID, @escaping @Sendable (Bool) -> Void) async -> Void,
        runBackground: @escaping @Sendable () async -> Void = {},
        beginSignUp: @escaping @Sendable (UserID?, Int) async -> Void
    ) {
        self.showContent = showContent
        self.runFeeds = runFeeds
        self.runBackground = runBackground
        self.beginSignUp = beginSignUp
        openLocal = {
            // Who a sign-up was for may be known by its session alone, if it was killed behind that.
            if try files.record() != nil { await accounts.load() }
            let known = files.known
            return LocalFacts(
                lastUser: known.lastUser, completeProfile: known.completeProfile,
                unfinished: try jobs.unfinished())
        }
        readSession = { await accounts.load() }
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
        endSession = { try? await accounts.signOut() }
        changes = accounts.changes
        news = jobs.news
    }
}
