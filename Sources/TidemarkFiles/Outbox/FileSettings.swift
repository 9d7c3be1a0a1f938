public import Tidemark

/// The settings of a ``FileOutbox``.
public struct FileSettings: Sendable {
    /// The bucket, such as `my-project.firebasestorage.app`.
    public var bucket: String
    /// The address of Storage. By default `FIREBASE_STORAGE_EMULATOR_HOST`, as `HOST:PORT`, if the
    /// environment has it, and Google's service if not.
    public var address: String?
    /// The app's id in the project; nil sends none.
    public var appID: String?
    /// The provider of the user's tokens; nil for that of the client's settings.
    public var tokenProvider: (any TokenProvider)?
    /// The provider of App Check tokens; nil for that of the client's settings.
    public var appCheckProvider: (any TokenProvider)?
    /// The maximum number of files of one user that wait. A write with more fails.
    public var maxFiles = 10_000
    /// The maximum number of bytes of one user's files that wait. A write with more fails.
    public var maxBytes: Int64 = 8 << 30
    /// The maximum size of one file in bytes.
    public var maxFileBytes: Int64 = 5 << 30
    /// The size in bytes up to which a file is small. Small files are sent first, and several at a
    /// time.
    public var smallFileBytes: Int64 = 1 << 20
    /// The maximum number of small files that are sent at a time.
    public var smallFilesAtOnce = 3

    /// The identifier of the session in which the system sends files also while the app is
    /// suspended, such as `com.example.app.files`; nil sends them only while the app runs. Each
    /// client of an app needs its own.
    ///
    /// Pass the system's calls to ``FileOutbox/handleEvents(ofBackgroundSession:completion:)``. On
    /// macOS and Linux, the chunks end with the process.
    public var backgroundSession: String?

    public init(bucket: String) { self.bucket = bucket }

    static let cloudAddress = "https://firebasestorage.googleapis.com"

    func resolvedAddress(_ environment: [String: String]) -> String {
        if let address { return address }
        guard let host = environment["FIREBASE_STORAGE_EMULATOR_HOST"], !host.isEmpty else {
            return Self.cloudAddress
        }
        return "http://" + host
    }
}

/// A file that is not done yet: its upload, or the write that it belongs to.
public struct WaitingFile: Hashable, Sendable, Identifiable {
    public enum State: Hashable, Sendable {
        /// The file waits for its turn, the network or another attempt.
        case waiting
        /// The file waits for another network. The rules are those of its ``FileUpload/networks``
        /// that the present network breaks.
        case waitingForNetwork(NetworkRules)
        /// The document is sent first, and is not acknowledged yet (``FilePolicy/documentFirst``).
        case waitingForDocument
        case uploading
        /// The object exists, and the document is being sent.
        case uploaded
        /// The upload was refused for good: ``FileOutbox/retry(_:)`` or
        /// ``FileOutbox/discard(_:)`` it. Until then, its documents wait.
        case failed(UploadProblem)
        /// The server refused the document: see `Firestore.rejectedWrites()`.
        case documentRefused
    }

    public let id: Int64
    public var document: DocumentPath
    public var field: FieldPath
    /// The number of the batch in the queue of writes.
    public var batch: Int64
    /// The object's name in the bucket.
    public var objectName: String
    /// The size in bytes.
    public var size: Int64
    /// The number of bytes that Storage has confirmed. It never decreases.
    public var sent: Int64
    public var state: State
}
