import Foundation
public import Tidemark

/// The settings of a ``TidemarkStack``. A folder, a project and an endpoint are sufficient;
/// everything else has a default that suits most apps.
public struct StackSettings: Sendable {
    /// The folder for all data of the app on this device: `cache`, `launch` and `secrets` are
    /// created in it.
    public var folder: String
    public var projectID: String
    /// The accounts server: ``AccountsEndpoint/cloud(key:bundleID:)`` with the project's web key,
    /// or ``AccountsEndpoint/local(_:key:bundleID:)``.
    public var accounts: AccountsEndpoint
    /// The settings of the client. The stack sets the folder and the user of the cache, and the
    /// provider of tokens.
    public var firestore: FirestoreSettings
    /// The store of the tokens; nil for files in the folder. On Apple's systems, pass a
    /// `KeychainCredentialStore`.
    public var credentials: (any CredentialStore)?
    /// Firebase App Check's tokens, for Firestore and for accounts; nil for none.
    public var appCheck: (any TokenProvider)?
    /// The system's information about Apple sign-ins: on Apple's systems, pass a
    /// `SystemAppleCredentials`. A session that began with Apple ends when the user withdraws the
    /// permission. Nil for no check.
    public var appleCredentials: (any AppleCredentials)?
    /// Returns the store of profiles; the default is a collection `users`.
    public var profiles: @Sendable (Firestore) -> any ProfileStore
    /// Returns the feeds of a user, of which the first is the first content; the user is nil before
    /// the first sign-in.
    public var feeds: @Sendable (Firestore, UserID?) throws -> [Feed]
    /// The maximum duration of each stage of a launch before the user sees a message.
    public var budgets: LaunchMachine.Budgets
    public var signals: AppSignals
    /// The time after the app's entry to the background at which the client is suspended
    /// (`Firestore.suspend(after:)`), until the app returns to the foreground or work in the
    /// background begins. Set it for a cache in an app group, for example to `.seconds(2)`; nil
    /// leaves the cache open, which an app's own container allows.
    public var suspendsAfter: Duration?
    /// Called after every change of a launch's state.
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
