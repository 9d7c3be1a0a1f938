public import Foundation
public import Tidemark
public import TidemarkApp

/// The services of an app that Xcode runs: a real project, or the local servers of a Mac.
public enum PhoneServices: Hashable, Sendable {
    /// The project of `GoogleService-Info.plist`.
    case project(GoogleServiceInfo)
    /// `tidemark serve`, with the addresses of Firestore and of the accounts as `HOST:PORT`. The
    /// simulator reaches the Mac's own address; a phone does not.
    case local(firestore: String, accounts: String)

    /// Finds the services of the app. With `GoogleService-Info.plist` in its bundle, these are the
    /// project's. Without the file, they are local: at `FIRESTORE_EMULATOR_HOST` and
    /// `FIREBASE_AUTH_EMULATOR_HOST`, or at the usual ports of this machine.
    ///
    /// - Throws: The error of a file that is not a project's.
    public init(
        in bundle: Bundle = .main,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(FirestoreError) {
        do throws(FirestoreError) { self = .project(try GoogleServiceInfo(of: bundle)) } catch {
            guard error.code == .notFound else { throw error }
            self = .local(
                firestore: environment["FIRESTORE_EMULATOR_HOST"] ?? "127.0.0.1:8080",
                accounts: environment["FIREBASE_AUTH_EMULATOR_HOST"] ?? "127.0.0.1:9099")
        }
    }

    /// Returns the bucket of the app's files, and the address of Storage: that of
    /// `tidemark serve --storage` at `FIREBASE_STORAGE_EMULATOR_HOST`, or at the usual port of this
    /// machine. The address is nil for Google's service.
    public func storage(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> (bucket: String, address: String?) {
        switch self {
        case .project(let info):
            return (info.storageBucket ?? info.projectID + ".firebasestorage.app", nil)
        case .local:
            let host = environment["FIREBASE_STORAGE_EMULATOR_HOST"] ?? "127.0.0.1:9199"
            return ("demo.firebasestorage.app", "http://" + host)
        }
    }

    /// Returns the place of the app's files.
    public func phoneStorage() -> PhoneStorage {
        let (bucket, address) = storage()
        return PhoneStorage(bucket: bucket, address: address)
    }

    /// The folder of the app's data on this device.
    public static var folder: String { place(.applicationSupportDirectory).path }

    /// The folder of pictures, which the system may empty.
    public static var pictures: URL { place(.cachesDirectory) }

    private static func place(_ directory: FileManager.SearchPathDirectory) -> URL {
        let places = FileManager.default.urls(for: directory, in: .userDomainMask)
        return (places.first ?? FileManager.default.temporaryDirectory)
            .appending(path: "Tidemark")
    }

    /// Returns the settings of an app's stack, with the system's signals and its keychain.
    ///
    /// - Parameters:
    ///   - folder: The folder of this app alone.
    ///   - feeds: Returns the feeds of a user; the user is nil before signing in.
    public func stackSettings(
        folder: String = PhoneServices.folder,
        feeds: @escaping @Sendable (Firestore, UserID?) throws -> [Feed] = { _, _ in [] }
    ) -> StackSettings {
        switch self {
        case .project(let info): return StackSettings(folder: folder, info, feeds: feeds)
        case .local(let firestore, let accounts):
            return StackSettings(
                folder: folder, projectID: "demo", accounts: .local(accounts),
                firestore: FirestoreSettings(host: firestore, isSSLEnabled: false), feeds: feeds)
        }
    }

    /// Returns the settings of a phone, for an app that takes a ``PhoneEnvironment``.
    ///
    /// - Parameters:
    ///   - folder: The folder of this app alone.
    ///   - pictures: The part of a picture's address before its name; nil if there are none.
    public func phoneSettings(
        folder: String = PhoneServices.folder, pictures: String? = nil
    ) -> PhoneSettings {
        switch self {
        case .project(let info): return PhoneSettings(folder: folder, info, pictures: pictures)
        case .local(let firestore, let accounts):
            var settings = PhoneSettings(
                folder: folder, project: "demo", firestore: firestore, accounts: accounts,
                user: PhoneUser(id: "ada", name: "Ada", email: "ada@example.org"), label: "phone")
            settings.pictures = pictures
            settings.storage = phoneStorage()
            return settings
        }
    }
}
