public import Foundation
public import Tidemark

/// An app on a phone: what it shows, and what a person does to it. Two conform for each example, the app
/// as it was and the app on Tidemark.
///
/// It keeps everything in its environment's folder, and goes on from there when its process was killed.
public protocol PhoneApp: Sendable {
    /// Launches. Returns at once: whatever waits, waits behind the first screen.
    ///
    /// - Throws: When the folder cannot be used.
    init(_ phone: PhoneEnvironment) throws

    /// The screen now and whenever it changes, for one reader; a slow one skips to the newest.
    var screens: AsyncStream<Screen> { get }
    /// A control or a row was tapped. Returns without waiting for the network.
    ///
    /// - Parameters:
    ///   - id: Of the control or the row; one that is not on the screen any more is ignored.
    ///   - text: What was typed; empty for a button.
    func tap(_ id: String, _ text: String) async
    /// What its next open will ask, and why, in words: a sentence each. Asks no server.
    func readPlan() async -> [String]
    /// The phone's system says that there is a network again.
    func networkMayBeBack() async
    /// The clock was turned: what depends on the time is drawn anew.
    func clockChanged() async
    /// Ends it in good order.
    func close() async
}

extension PhoneApp {
    public func clockChanged() async {}
    public func networkMayBeBack() async {}
}

/// Who uses a phone. The account exists only where an example says so.
public struct PhoneUser: Codable, Hashable, Sendable {
    /// The id of their documents, where an app has no accounts of its own.
    public var id: String
    public var name: String
    public var email: String
    public var password: String

    public init(id: String, name: String, email: String, password: String = "correct horse") {
        self.id = id
        self.name = name
        self.email = email
        self.password = password
    }
}

/// Where an app finds what it needs. A process gets it as JSON.
public struct PhoneSettings: Codable, Hashable, Sendable {
    /// Of the app alone; made if it is missing.
    public var folder: String
    public var project: String
    /// `HOST:PORT` of the Firestore.
    public var firestore: String
    /// `HOST:PORT` of the accounts.
    public var accounts: String
    public var user: PhoneUser
    /// Under which the server counts its reads.
    public var label: String
    /// Of the user, where an app has no accounts of its own: security rules see it.
    public var token: String?
    /// What stands before the name of a picture in its address; nil where there are no pictures.
    public var pictures: String?
    /// Whether the app looks what is the matter with its connection. A demo launches it without, to see
    /// what that costs.
    public var diagnoses = true

    public init(
        folder: String, project: String, firestore: String, accounts: String, user: PhoneUser,
        label: String, token: String? = nil
    ) {
        self.folder = folder
        self.project = project
        self.firestore = firestore
        self.accounts = accounts
        self.user = user
        self.label = label
        self.token = token
    }

    /// A client's settings on this phone, with its cache in the folder.
    ///
    /// - Parameter user: Whose cache is opened; nil before anybody signs in.
    public func firestoreSettings(user: String? = nil) -> FirestoreSettings {
        FirestoreSettings(
            host: firestore, isSSLEnabled: false, cache: .directory(folder + "/cache"),
            user: user, label: label, token: token)
    }
}

/// What an app may not decide for itself: its settings, its clock, its client.
public struct PhoneEnvironment: Sendable {
    public var settings: PhoneSettings
    /// The time of day, which a person may have set wrong.
    public var now: @Sendable () -> Date
    /// For what waits.
    public var clock: any Clock<Duration>
    /// How long a screen waits for a figure that the server counts, before it says that it is not known.
    public var patience = Duration.seconds(10)
    /// Makes the app's client. Tests give one of `LocalFirestore`.
    public var firestore: @Sendable (PhoneSettings) throws -> Firestore

    public init(
        _ settings: PhoneSettings, now: @escaping @Sendable () -> Date = { Date() },
        clock: any Clock<Duration> = ContinuousClock(),
        firestore: (@Sendable (PhoneSettings) throws -> Firestore)? = nil
    ) {
        self.settings = settings
        self.now = now
        self.clock = clock
        self.firestore =
            firestore ?? {
                try Firestore(
                    projectID: $0.project, settings: $0.firestoreSettings(user: $0.user.id))
            }
    }
}
