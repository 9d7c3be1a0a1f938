/// The error of a call about objects.
package struct ObjectRefusal: Error, Hashable, Sendable, Codable {
    /// The HTTP status.
    package let status: Int
    /// The reason in errors of Google Cloud Storage, as in `conditionNotMet`.
    package let reason: String
    package let message: String

    package init(_ status: Int, reason: String, message: String) {
        self.status = status
        self.reason = reason
        self.message = message
    }

    package static func invalid(_ message: String) -> Self {
        Self(400, reason: "invalid", message: message)
    }

    package static func notFound(_ path: ObjectPath) -> Self {
        Self(404, reason: "notFound", message: "No such object: \(path.bucket)/\(path.name)")
    }

    package static func noBucket(_ name: String) -> Self {
        Self(404, reason: "notFound", message: "The specified bucket does not exist: \(name)")
    }

    package static func forbidden(_ message: String) -> Self {
        Self(403, reason: "forbidden", message: message)
    }

    package static func unauthenticated(_ message: String) -> Self {
        Self(401, reason: "required", message: message)
    }

    package static func conflict(_ message: String) -> Self {
        Self(409, reason: "conflict", message: message)
    }

    /// The answer to a server that cannot answer now. Clients try again.
    package static func unavailable(_ message: String) -> Self {
        Self(503, reason: "backendError", message: message)
    }

    /// The upload's id is not known. Its upload ended more than a week ago, or never existed.
    package static let noUpload = Self(
        404, reason: "notFound", message: "This server has no upload with this id.")

    package static let conditionNotMet = Self(
        412, reason: "conditionNotMet",
        message: "At least one of the pre-conditions you specified did not hold.")

    /// A read whose conditions exclude the present version.
    package static let notModified = Self(304, reason: "notModified", message: "Not Modified")

    package static let noSpace = Self(
        507, reason: "backendError", message: "There is no space left to store the object.")

    package static let tooManyUploads = Self(
        429, reason: "rateLimitExceeded",
        message: "Too many uploads are open. Finish or cancel some of them first.")

    /// The production server's text. Source: storage A3.
    package static func wrongOffset(sent: Int64, expected: Int64) -> Self {
        .invalid("Client uploaded to the wrong offset (\(sent) instead of \(expected)).")
    }

    /// The production server's text. Source: storage C4.
    package static func beyondStored(sent: Int64, stored: Int64) -> Self {
        Self(
            503, reason: "backendError",
            message: """
                Invalid request. According to the Content-Range header, the upload offset is \
                \(sent) byte(s), which exceeds already uploaded size of \(stored) byte(s).
                """)
    }

    package static func wrongSize(_ size: Int64, declared: Int64) -> Self {
        .invalid("The upload has \(size) bytes, but \(declared) bytes were declared at its start.")
    }

    package static let cancelled = Self.invalid("The upload was cancelled.")
    package static let isFinal = Self.invalid("The upload is already final.")
    package static let cutOff = Self.invalid("The body ended early.")
    package static let replaced = Self.unavailable(
        "A later request for the same upload has taken the place of this request.")
}
