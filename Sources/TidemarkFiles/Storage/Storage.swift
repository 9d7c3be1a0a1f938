public import Foundation
import Synchronization
public import Tidemark

/// Objects in a bucket, in the shape of FirebaseStorage's API.
///
/// ```swift
/// let storage = Storage(firestore, FileSettings(bucket: "my-project.firebasestorage.app"))
/// let face = try await storage.reference(withPath: "faces/kim.jpg").data(maxSize: 1 << 20)
/// ```
///
/// An upload here ends with its task. ``FileOutbox`` sends files through kills.
public final class Storage: Sendable {
    public let bucket: String
    private let times = Mutex((upload: 600.0, operation: 120.0))

    let client: StorageClient
    let environment: FileEnvironment
    /// Returns the bytes of the id of the client's user; empty for no user.
    private let owner: @Sendable () -> [UInt8]

    /// - Parameters:
    ///   - firestore: The client whose providers give the tokens, unless the settings have others.
    ///   - settings: The bucket and the address; the bounds are those of an outbox.
    public convenience init(_ firestore: Firestore, _ settings: FileSettings) {
        let providers = firestore.tokenProviders
        self.init(
            settings, user: providers.user, appCheck: providers.appCheck,
            owner: { firestore.engine.session.user },
            environment: FileEnvironment(now: { Int64(Date().timeIntervalSince1970) }))
    }

    init(
        _ settings: FileSettings, user: (any TokenProvider)?, appCheck: (any TokenProvider)?,
        owner: @escaping @Sendable () -> [UInt8] = { [] }, environment: FileEnvironment
    ) {
        self.owner = owner
        bucket = settings.bucket
        self.environment = environment
        let address = settings.resolvedAddress(ProcessInfo.processInfo.environment)
        client = StorageClient(
            wire: StorageWire(address: address, appID: settings.appID),
            tokens: StorageTokens(
                settings.tokenProvider ?? user, appCheck: settings.appCheckProvider ?? appCheck))
    }

    /// The bucket's root.
    public func reference() -> StorageReference { StorageReference(self, []) }

    /// The user of the client's cache; nil if nobody is signed in. A client whose app names no user
    /// has nil too: its users then share the pictures of a pipeline, as they share the cache.
    public var userID: String? {
        let user = owner()
        return user.isEmpty ? nil : String(decoding: user, as: UTF8.self)
    }

    /// The longest time of an upload, in seconds, in which no byte arrives.
    public var maxUploadRetryTime: TimeInterval {
        get { times.withLock { $0.upload } }
        set { times.withLock { $0.upload = newValue } }
    }

    /// The longest time of another call, in seconds; of a download to a file, the longest time in
    /// which no byte arrives.
    public var maxOperationRetryTime: TimeInterval {
        get { times.withLock { $0.operation } }
        set { times.withLock { $0.operation = newValue } }
    }

    /// Returns the reference of a `gs://` address, or of an `http` address of an object.
    ///
    /// - Throws: ``StorageError/invalidArgument(message:)`` for another address, and
    ///   ``StorageError/bucketMismatch(message:)`` for another bucket.
    public func reference(for url: URL) throws(StorageError) -> StorageReference {
        guard let place = ObjectAddress(url) else {
            throw .invalidArgument(message: "The address is none of Storage's.")
        }
        guard place.bucket == bucket else {
            throw .bucketMismatch(
                message: "The address is in the bucket \(place.bucket), not in \(bucket).")
        }
        return reference(withPath: place.name)
    }

    /// - Parameter path: Names separated by slashes. Empty names are ignored.
    public func reference(withPath path: String) -> StorageReference {
        reference().child(path)
    }
}

/// The name of an object, or of a folder of objects.
public struct StorageReference: Hashable, Sendable, CustomStringConvertible {
    public let storage: Storage
    private let parts: [String]

    init(_ storage: Storage, _ parts: [String]) {
        self.storage = storage
        self.parts = parts
    }

    public var bucket: String { storage.bucket }
    public var fullPath: String { parts.joined(separator: "/") }
    /// The last name; empty for the root.
    public var name: String { parts.last ?? "" }
    public var description: String { "gs://\(bucket)/\(fullPath)" }
    /// The `gs://` address, such as a pipeline of pictures takes.
    public var url: URL {
        let path = parts.map(StorageWire.escaped).joined(separator: "/")
        guard let url = URL(string: "gs://\(StorageWire.escaped(bucket))/\(path)") else {
            preconditionFailure("an escaped name is a valid host")
        }
        return url
    }

    public func root() -> StorageReference { StorageReference(storage, []) }

    /// Returns the folder of the reference; nil for the root.
    public func parent() -> StorageReference? {
        parts.isEmpty ? nil : StorageReference(storage, parts.dropLast())
    }

    public func child(_ path: String) -> StorageReference {
        StorageReference(storage, parts + path.split(separator: "/").map(String.init))
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.storage === right.storage && left.parts == right.parts
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(storage))
        hasher.combine(parts)
    }
}

/// The bucket and the name that an address has.
private struct ObjectAddress {
    let bucket: String
    let name: String

    init?(_ url: URL) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else {
            return nil
        }
        switch parts.scheme {
        case "gs":
            guard let host = parts.host, !host.isEmpty else { return nil }
            (bucket, name) = (host, parts.path)
        case "http", "https":
            // .../v0/b/BUCKET/o/NAME, where the name is one segment.
            let segments = parts.percentEncodedPath.split(separator: "/")
            guard segments.count == 5 || segments.count == 4, segments[0] == "v0",
                segments[1] == "b", segments[3] == "o",
                let bucket = String(segments[2]).removingPercentEncoding
            else { return nil }
            let name = segments.count == 5 ? String(segments[4]).removingPercentEncoding : ""
            guard let name else { return nil }
            (self.bucket, self.name) = (bucket, name)
        default: return nil
        }
    }
}
