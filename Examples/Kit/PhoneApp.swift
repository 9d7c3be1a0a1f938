public import Foundation
public import Tidemark
public import TidemarkApp

/// An app on a phone: its screens, and the user's actions. Each example has two of these types: the
/// old app and the app on Tidemark.
///
/// An app stores all its data in its environment's folder, and continues from there after a kill.
public protocol PhoneApp: Sendable {
    /// Launches the app. Returns immediately: everything that waits runs after the first screen.
    ///
    /// - Throws: An error if the folder cannot be used.
    init(_ phone: PhoneEnvironment) throws

    /// The current screen and each later one, for a single reader. A slow reader gets only the
    /// newest.
    var screens: AsyncStream<Screen> { get }
    /// Handles a tap on a control or a row. Returns without waiting for the network.
    ///
    /// - Parameters:
    ///   - id: The id of the control or row. An id that the screen does not show is ignored.
    ///   - text: The typed text; empty for a button.
    func tap(_ id: String, _ text: String) async
    /// Returns the requests of the next launch and their reasons, one sentence each. Sends nothing.
    func readPlan() async -> [String]
    /// Reacts to the phone's report that a network is available again.
    func networkMayBeBack() async
    /// Redraws everything that depends on the time after the clock was turned.
    func clockChanged() async
    /// Closes the app normally.
    func close() async
}

extension PhoneApp {
    public func clockChanged() async {}
    public func networkMayBeBack() async {}
}

/// The user of a phone. The user has an account only if the example says so.
public struct PhoneUser: Codable, Hashable, Sendable {
    /// The id of the user's documents, in an app without its own accounts.
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

/// The settings of an app. An app's process receives them as JSON.
public struct PhoneSettings: Codable, Hashable, Sendable {
    /// The folder of this app alone. It is created if missing.
    public var folder: String
    public var project: String
    /// The Firestore server, as `HOST:PORT`.
    public var firestore: String
    /// The account server, as `HOST:PORT`.
    public var accounts: String
    public var user: PhoneUser
    /// The label under which the server counts the app's reads.
    public var label: String
    /// The user's token, in an app without its own accounts. Security rules see it.
    public var token: String?
    /// The part of a picture's address before its name; nil if there are no pictures.
    public var pictures: String?
    /// The place of the app's files; nil if the app sends none.
    public var storage: PhoneStorage?
    /// The folder of the photos that the user has taken; nil if there are none. A view has the
    /// system's picker instead.
    public var photos: String?
    /// The folder of FirebaseFirestore's store; nil if no version of the app had FirebaseFirestore.
    public var oldStore: String?
    /// True if the app diagnoses its connection. A demo launches it without, to measure the cost.
    public var diagnoses = true
    /// The project's key and app at Google, for an app in production; nil for local servers.
    public var production: Production?

    /// The part of `GoogleService-Info.plist` that an app in production needs besides the project.
    public struct Production: Codable, Hashable, Sendable {
        public var apiKey: String
        public var bundleID: String?
    }

    /// Makes the settings of an app in production: its services are Google's, over TLS.
    ///
    /// - Parameters:
    ///   - folder: The folder of this app alone.
    ///   - info: The project's file: `try GoogleServiceInfo(of: .main)`.
    ///   - user: The user of an app without its own accounts; an app with accounts ignores it.
    ///   - pictures: The part of a picture's address before its name; nil if there are none.
    public init(
        folder: String, _ info: GoogleServiceInfo,
        user: PhoneUser = PhoneUser(id: "", name: "", email: ""), pictures: String? = nil
    ) {
        self.init(
            folder: folder, project: info.projectID, firestore: "firestore.googleapis.com:443",
            accounts: "identitytoolkit.googleapis.com", user: user, label: "phone")
        self.pictures = pictures
        storage = PhoneServices.project(info).phoneStorage()
        oldStore = FirebaseStore.folder(projectID: info.projectID)?.path
        production = Production(
            apiKey: info.apiKey, bundleID: info.bundleID ?? Bundle.main.bundleIdentifier)
    }

    /// The account server.
    public var accountsEndpoint: AccountsEndpoint {
        guard let production else { return .local(accounts) }
        return .cloud(key: production.apiKey, bundleID: production.bundleID)
    }

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

    /// Returns the photo that the user chooses, a JPEG file; nil if there are no photos.
    ///
    /// - Parameter number: The number of photos that this process has chosen before.
    public func photo(after number: Int) -> URL? {
        guard let photos,
            let names = try? FileManager.default.contentsOfDirectory(atPath: photos).sorted(),
            !names.isEmpty
        else { return nil }
        return URL(fileURLWithPath: photos).appendingPathComponent(names[number % names.count])
    }

    /// Returns a client's settings on this phone, with its cache in the folder.
    ///
    /// - Parameter user: The user whose cache is opened; nil before a user signs in.
    public func firestoreSettings(user: String? = nil) -> FirestoreSettings {
        FirestoreSettings(
            host: firestore, isSSLEnabled: production != nil, cache: .directory(folder + "/cache"),
            user: user, label: label, token: token)
    }
}

/// The place of an app's files.
public struct PhoneStorage: Codable, Hashable, Sendable {
    public var bucket: String
    /// The address of Storage, as `http://HOST:PORT`; nil for Google's service.
    public var address: String?

    public init(bucket: String, address: String?) {
        self.bucket = bucket
        self.address = address
    }
}

/// The inputs of an app: its settings, its clock, and its client.
public struct PhoneEnvironment: Sendable {
    public var settings: PhoneSettings
    /// Returns the time of day. The user may have set it wrong.
    public var now: @Sendable () -> Date
    /// Measures all waits.
    public var clock: any Clock<Duration>
    /// The maximum time that a screen waits for a figure that the server counts. After it, the
    /// screen says that the figure is not known.
    public var patience = Duration.seconds(10)
    /// Makes the app's client. Tests return a client of `LocalFirestore`.
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
