public import Foundation

/// The description of an app from Firebase's console, in its file `GoogleService-Info.plist`.
///
/// ```swift
/// let info = try GoogleServiceInfo(contentsOf: file)
/// let firestore = try Firestore(projectID: info.projectID, settings: settings)
/// ```
public struct GoogleServiceInfo: Hashable, Sendable {
    public let projectID: String
    /// The key with which an app names its project, for accounts. It is not a secret.
    public let apiKey: String
    /// Names the app within its project, as in `1:1234567890:ios:0123abcd`.
    public let appID: String
    public let bundleID: String?
    public let senderID: String?
    public let storageBucket: String?

    private struct File: Decodable {
        var PROJECT_ID, API_KEY, GOOGLE_APP_ID: String?
        var BUNDLE_ID, GCM_SENDER_ID, STORAGE_BUCKET: String?
    }

    /// - Parameter data: The file, as XML or binary.
    /// - Throws: `invalidArgument` if the file is not a property list, or lacks the project, the
    ///   key or the app.
    public init(_ data: Data) throws(FirestoreError) {
        let file: File
        do { file = try PropertyListDecoder().decode(File.self, from: data) } catch {
            throw .invalidArgument("This is not a GoogleService-Info.plist: \(error).")
        }
        func required(_ value: String?, _ key: String) throws(FirestoreError) -> String {
            guard let value, !value.isEmpty else {
                throw .invalidArgument("GoogleService-Info.plist has no \(key).")
            }
            return value
        }
        projectID = try required(file.PROJECT_ID, "PROJECT_ID")
        apiKey = try required(file.API_KEY, "API_KEY")
        appID = try required(file.GOOGLE_APP_ID, "GOOGLE_APP_ID")
        bundleID = file.BUNDLE_ID
        senderID = file.GCM_SENDER_ID
        storageBucket = file.STORAGE_BUCKET
    }

    /// - Throws: `notFound` if the file does not exist, or an error of ``init(_:)``.
    public init(contentsOf url: URL) throws(FirestoreError) {
        guard let data = try? Data(contentsOf: url) else {
            throw FirestoreError(.notFound, "There is no file \(url.lastPathComponent).")
        }
        try self.init(data)
    }

    /// Reads the file from a bundle, to which Xcode copies it.
    ///
    /// - Throws: `notFound` if the bundle has no such file, or an error of ``init(_:)``.
    public init(of bundle: Bundle) throws(FirestoreError) {
        guard let url = bundle.url(forResource: "GoogleService-Info", withExtension: "plist")
        else { throw FirestoreError(.notFound, "The app has no GoogleService-Info.plist.") }
        try self.init(contentsOf: url)
    }
}
