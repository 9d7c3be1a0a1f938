import Foundation
public import Tidemark

/// The settings of a ``TidemarkStack``. A folder, a project and an identity are sufficient;
/// everything else has a default that suits most apps.
public struct StackSettings: Sendable {
    /// The source of the app's user.
    public enum Identity: Sendable {
        /// An ``Accounts`` of an accounts server: ``AccountsEndpoint/cloud(key:bundleID:)`` with
        /// the project's web key, or ``AccountsEndpoint/local(_:key:bundleID:)``.
        case accounts(AccountsEndpoint)
        /// A ``LibraryIdentity`` of FirebaseAuth or another library, or the app's own.
        case provider(any IdentityProvider)
    }

    /// The folder for all data of the app on this device: `cache` and `launch` are created in it,
    /// and `secrets` if there is no keychain.
    public var folder: String
    public var projectID: String
    public var identity: Identity
    /// The settings of the client. The stack sets the folder and the user of the cache. Without a
    /// provider of tokens in them, the client uses the identity; a given provider of tokens or of
    /// App Check stays.
    public var firestore: FirestoreSettings
    /// The store of the tokens, and of the secret of an unfinished sign-up. Nil for the system's:
    /// the keychain on Apple's systems, for this device only and after its first unlock, into which
    /// secrets move from the files of an earlier version; and files of mode 0600 in the folder
    /// elsewhere, which is logged. A command-line tool on macOS has no keychain and needs a
    /// ``FileCredentialStore``.
    public var credentials: (any CredentialStore)?
    /// Firebase App Check's tokens, for Firestore and for accounts; nil for the provider of
    /// ``firestore``, if it has one.
    public var appCheck: (any TokenProvider)?
    /// The system's information about Apple sign-ins: on Apple's systems, pass a
    /// `SystemAppleCredentials`. A session that began with Apple ends when the user withdraws the
    /// permission. Nil for no check. Another identity than ``Accounts`` checks by itself.
    public var appleCredentials: (any AppleCredentials)?
    /// Returns the store of profiles; the default is a collection `users`.
    public var profiles: @Sendable (Firestore) -> any ProfileStore
    /// Returns the feeds of a user, of which the first is the first content; the user is nil before
    /// the first sign-in.
    public var feeds: @Sendable (Firestore, UserID?) throws -> [Feed]
    /// The maximum duration of each stage of a launch before the user sees a message.
    public var budgets: LaunchMachine.Budgets
    /// True if a launch finds the reason when its feeds do not become live in time. Costs one read
    /// for each such launch.
    public var diagnosesLaunch = true
    public var signals: AppSignals
    /// The time after the app's entry to the background at which the client is suspended
    /// (`Firestore.suspend(after:)`), until the app returns to the foreground or work in the
    /// background begins. Set it for a cache in an app group, for example to `.seconds(2)`; nil
    /// leaves the cache open, which an app's own container allows.
    public var suspendsAfter: Duration?
    /// The receivers of what feeds, launches and sign-ups do.
    public var observers: [Observer] = []
    /// Called after every change of a launch's state.
    public var onTransition: (@Sendable (Launch.Transition) -> Void)?

    public init(
        folder: String, projectID: String, accounts: AccountsEndpoint,
        firestore: FirestoreSettings = FirestoreSettings(),
        feeds: @escaping @Sendable (Firestore, UserID?) throws -> [Feed] = { _, _ in [] }
    ) {
        self.init(
            in: folder, project: projectID, identity: .accounts(accounts), client: firestore,
            feeds: feeds)
    }

    /// Creates the settings of an app whose users sign in by another library.
    public init(
        folder: String, projectID: String, identity: any IdentityProvider,
        firestore: FirestoreSettings = FirestoreSettings(),
        feeds: @escaping @Sendable (Firestore, UserID?) throws -> [Feed] = { _, _ in [] }
    ) {
        self.init(
            in: folder, project: projectID, identity: .provider(identity), client: firestore,
            feeds: feeds)
    }

    private init(
        in folder: String, project projectID: String, identity: Identity,
        client firestore: FirestoreSettings,
        feeds: @escaping @Sendable (Firestore, UserID?) throws -> [Feed]
    ) {
        self.folder = folder
        self.projectID = projectID
        self.identity = identity
        self.firestore = firestore
        self.feeds = feeds
        profiles = { FirestoreProfiles($0) }
        budgets = LaunchMachine.Budgets()
        signals = .system
    }

    /// Creates the settings for the project in `GoogleService-Info.plist`, with its accounts at
    /// Google.
    public init(
        folder: String, _ info: GoogleServiceInfo,
        firestore: FirestoreSettings = FirestoreSettings(),
        feeds: @escaping @Sendable (Firestore, UserID?) throws -> [Feed] = { _, _ in [] }
    ) {
        self.init(
            folder: folder, projectID: info.projectID,
            accounts: .cloud(
                key: info.apiKey, bundleID: info.bundleID ?? Bundle.main.bundleIdentifier),
            firestore: firestore, feeds: feeds)
    }

    /// The app's functions for the stages of a launch. Each is called off the main thread.
    public struct Stages: Sendable {
        /// Shows the first of the feeds, which were opened from disk. Asks no server.
        public var showContent: @Sendable (UserID?, [Feed]) async -> Void
        /// Handles the completed onboarding: calls ``AccountJobs/signUp(_:profile:step:)``, or
        /// ``AccountJobs/completeProfile(_:step:)`` for a signed-in user.
        public var beginSignUp: @Sendable (AccountJobs, UserID?, _ step: Int) async -> Void
        /// Runs diagnostics, backfill and prefetch at background priority, until it is cancelled.
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
