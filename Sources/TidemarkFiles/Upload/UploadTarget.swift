/// The object that a file becomes, with the facts that the finished object must have.
///
/// A name is never reused, so an object with this name has these bytes, or damaged ones.
struct UploadTarget: Hashable, Sendable, Codable {
    var bucket: String
    /// The object's name: 1 to 1,024 bytes.
    var name: String
    /// The size in bytes.
    var size: Int64
    /// The MD5 digest of the bytes in base64, as Storage reports it.
    var md5: String
    var contentType: String
    /// The custom metadata of the object.
    var metadata: [String: String] = [:]
    /// The other fields of the object that an app sets, such as `cacheControl`.
    var fields: [String: String] = [:]
}

/// The facts that Storage reports about an object.
struct UploadedObject: Hashable, Sendable {
    var size: Int64
    /// The MD5 digest in base64; nil if Storage has none, as for a composed object.
    var md5: String?
    /// The number of the object's version; nil if it was not reported.
    var generation: String?

    init(size: Int64, md5: String?, generation: String? = nil) {
        self.size = size
        self.md5 = md5
        self.generation = generation
    }

    /// Returns true if this is the target's object, byte by byte. An object without a digest is
    /// not.
    func isComplete(_ target: UploadTarget) -> Bool {
        size == target.size && md5 == target.md5
    }
}

/// The state of an upload that survives a kill. It is stored after each step that changes it.
struct UploadRecord: Hashable, Sendable, Codable {
    /// A session of Storage, to which the bytes are sent.
    struct Session: Hashable, Sendable, Codable {
        /// The address. It is also the permission to write the object: a secret.
        var address: String
        /// The time of the device's clock, in seconds since 1970.
        var madeAt: Int64
        /// The number of bytes that Storage last confirmed. After a kill it is only a hint.
        var confirmed: Int64 = 0
    }

    var session: Session?
    /// True if a request that can complete the object was about to be sent, so the object may
    /// exist, whatever the answer was.
    var mayExist = false
    /// The largest number of confirmed bytes of all sessions. Progress shows it, so progress never
    /// runs back.
    var furthest: Int64 = 0
    /// The number of objects that were complete, but not the file's bytes.
    var damagedObjects = 0

    /// Allows another attempt after a problem: from the start, with the known facts about the
    /// object.
    mutating func beginAgain() {
        session = nil
        damagedObjects = 0
    }
}

/// The answer of Storage to a request, as far as it matters for an upload.
struct UploadAnswer: Hashable, Sendable {
    /// `X-Goog-Upload-Status`.
    enum State: String, Hashable, Sendable {
        case active, final, cancelled
    }

    var status: Int
    var state: State?
    /// `X-Goog-Upload-URL`.
    var address: String?
    /// `X-Goog-Upload-Size-Received`.
    var received: Int64?
    /// The object of the body, if the body has one.
    var object: UploadedObject?
    /// `Retry-After`.
    var retryAfter: Duration?

    init(
        _ status: Int, _ state: State? = nil, address: String? = nil, received: Int64? = nil,
        object: UploadedObject? = nil, retryAfter: Duration? = nil
    ) {
        self.status = status
        self.state = state
        self.address = address
        self.received = received
        self.object = object
        self.retryAfter = retryAfter
    }

    var isSuccess: Bool { (200..<300).contains(status) }

    /// True if the same request can succeed later. Storage never redirects: a redirect, or a demand
    /// for a login to the network (511), is the answer of a captive portal.
    var isPassing: Bool {
        switch status {
        case 300..<400, 408, 425, 429, 500, 502, 503, 504, 511: true
        default: false
        }
    }
}

/// The reason why an upload ended without its object. It stays until the app decides: another
/// attempt, or none.
public enum UploadProblem: Error, Hashable, Sendable, Codable {
    /// Storage refused the upload: 403 by its rules, 404 for a missing bucket, 402 for a quota.
    case refused(status: Int)
    /// The copy of the file on this device is missing.
    case copyMissing
    /// The copy of the file on this device has other bytes than when it was made.
    case copyChanged
    /// Storage completed the object several times with other bytes than were sent.
    case damagedOnTheWay
}
