import Foundation
import TidemarkModel
import TidemarkWire

/// Encodes errors in the form of Google's interfaces.
enum ErrorJSON {
    /// Returns `{"error": {"code", "message", "status", "details"}}`.
    ///
    /// - Parameter isList: True if the error must be inside a list.
    static func data(of status: RPCStatus, isList: Bool = false) -> Data {
        let error = output(of: status)
        return (isList ? .list([error]) : error).data(isPretty: true)
    }

    static func output(of status: RPCStatus) -> JSONOutput {
        var members: [JSONOutput.Member] = [
            .init("code", .integer(Int64(status.code.httpStatus))),
            .init("message", .text(status.message)),
            .init("status", .text(status.code.wireName)),
        ]
        if !status.details.isEmpty,
            case .object(let fields) = ProtoJSONWriter.json(
                .status, CallCoding.bytes(of: status)),
            let details = fields.first(where: { $0.name == "details" })
        {
            members.append(details)
        }
        return .object([.init("error", .object(members))])
    }
}

extension RPCStatus.Code {
    /// The HTTP status, according to the comments of `google.rpc.Code`.
    var httpStatus: Int {
        switch self {
        case .ok: 200
        case .invalidArgument, .failedPrecondition, .outOfRange: 400
        case .unauthenticated: 401
        case .permissionDenied: 403
        case .notFound: 404
        case .alreadyExists, .aborted: 409
        case .resourceExhausted: 429
        case .cancelled: 499
        case .unknown, .internal, .dataLoss: 500
        case .unimplemented: 501
        case .unavailable: 503
        case .deadlineExceeded: 504
        }
    }
}
