/// The error of a call of ``Storage``, with the names of FirebaseStorage's cases.
public enum StorageError: Error, Hashable, Sendable {
    case objectNotFound(object: String, serverError: [String: String])
    case quotaExceeded(bucket: String, serverError: [String: String])
    case unauthenticated(serverError: [String: String])
    case unauthorized(bucket: String, object: String, serverError: [String: String])
    /// The time for attempts is over: ``Storage/maxOperationRetryTime`` or
    /// ``Storage/maxUploadRetryTime``.
    case retryLimitExceeded
    /// The object that Storage completed has other bytes than were sent.
    case nonMatchingChecksum
    case downloadSizeExceeded(total: Int64, maxSize: Int64)
    case cancelled
    case invalidArgument(message: String)
    case bucketMismatch(message: String)
    case unknown(message: String, serverError: [String: String])

    init(status: Int, bucket: String, object: String, body: [UInt8]) {
        let details = [
            "ResponseErrorCode": "\(status)",
            "ResponseBody": String(decoding: body.prefix(1_024), as: UTF8.self),
        ]
        switch status {
        case 401: self = .unauthenticated(serverError: details)
        case 402: self = .quotaExceeded(bucket: bucket, serverError: details)
        case 403: self = .unauthorized(bucket: bucket, object: object, serverError: details)
        case 404: self = .objectNotFound(object: object, serverError: details)
        default: self = .unknown(message: "Storage answered \(status).", serverError: details)
        }
    }

    init(_ problem: UploadProblem, bucket: String, object: String) {
        switch problem {
        case .refused(let status):
            self.init(status: status, bucket: bucket, object: object, body: [])
        case .damagedOnTheWay: self = .nonMatchingChecksum
        case .copyMissing: self = .invalidArgument(message: "The file is missing.")
        case .copyChanged:
            self = .invalidArgument(message: "The file changed while it was sent.")
        }
    }
}
