public import Tidemark

/// What a ``TidemarkStack`` is made of. A folder, a project and an endpoint are enough; everything else has
/// a value that most apps keep.
public struct StackSettings: Sendable {
    /// Where everything of the app on this device lies: `cache`, `launch` and `secrets` are made in it.
    public var folder: String
    public var projectID: String
    /// Where accounts are: ``AccountsEndpoint/cloud(key:)`` with the project's web key, or
    /// ``AccountsEndpoint/local(_:key:)``.
    public var accounts: AccountsEndpoint
    /// Of the client. The stack sets where its cache is, whose it is, and who gives its tokens.
    public var firestore: FirestoreSettings
    /// Where tokens are kept; nil for files in the folder. On Apple's systems give a
    /// `KeychainCredentialStore`.
    public var credentials: (any CredentialStore)?
    /// Firebase App Check's tokens, for Firestore and for accounts; nil for none.
    public var appCheck: (any TokenProvider)?
    /// Who has signed in with Apple, as the system knows it: on Apple's systems give a
    /// `SystemAppleCredentials`. A session that was begun with Apple ends when the person takes back what
    /// they had allowed. Nil to look nowhere.
    public var appleCredentials: (any AppleCredentials)?
    /// Where profiles are; a collection `users` unless it is said.
    public var profiles: @Sendable (Firestore) -> any ProfileStore
    /// The feeds of a user, of which the first one is the first content; nil before anybody signed in.
    public var feeds: @Sendable (Firestore, UserID?) throws -> [Feed]
    /// How long each stage of a launch may take before the person is told.
    public var budgets: LaunchMachine.Budgets
    public var signals: AppSignals
    /// How long after the app went to the background the client is suspended (`Firestore.suspend(after:)`),
    /// until it comes forward again or work in the background begins. To be set where the cache lies in an
    /// app group, `.seconds(2)` for example; nil leaves it open, as an app's own container allows.
    public var suspendsAfter: Duration?
    /// Told of every change of a launch's state.
    public var onTransition: (@Sendable (Launch.Transition) -> Void)?

    public init(
        folder: String, projectID: String, accounts: AccountsEndpoint,
        firestore: FirestoreSettings = FirestoreSettings(),
        feeds: @escaping @Sendable (Firestore, UserID?) throws -> [Feed] = { _, _ in [] }
    ) {
        self.folder = folder
        self.projectID = projectID
        self.accounts = accounts
        self.firestore = firestore
        self.feeds = feeds
        profiles = { FirestoreProfiles($0) }
        budgets = LaunchMachine.Budgets()
        signals = .system
    }

    /// Of the project that `GoogleService-Info.plist` names, with its accounts at Google.
    public init(
        folder: String, _ info: GoogleServiceInfo,
        firestore: FirestoreSettings = FirestoreSettings(),
        feeds: @escaping @Sendable (Firestore, UserID?) throws -> [Feed] = { _, _ in [] }
    ) {
        self.init(
            folder: folder, projectID: info.projectID, accounts: .cloud(key: info.apiKey),
            firestore: firestore, feeds: feeds)
    }

    /// What an app does at the stages of a launch. Each is called off the main thread.
    public struct Stages: Sendable {
        /// Feeds have been opened from disk: time to show the first of them. Asks no server.
        public var showContent: @Sendable (UserID?, [Feed]) async -> Void
        /// The onboarding is filled in: calls ``AccountJobs/signUp(_:profile:step:)``, or
        /// ``AccountJobs/completeProfile(_:step:)`` for somebody who is signed in.
        public var beginSignUp: @Sendable (AccountJobs, UserID?, _ step: Int) async -> Void
        /// Diagnostics, backfill, prefetch: at background priority, until it is cancelled.
        public var runBackground: @Sendable () async -> Void

        public init(
            showContent: @escaping @Sendable (UserID?, [Feed]) async -> Void = { _, _ in },
            beginSignUp: @escaping @Sendable (AccountJobs, UserID?, Int) async -> Void,
            runBackground: @escaping @Sendable () async -> Void = {}
        ) {
            self.showContent = showContent
            self.beginSignUp = beginSignUp
            self.runBackground = runBackground
        }
    }
}
