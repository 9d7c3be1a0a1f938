import GRPCCore
package import TidemarkModel

extension Status {
    init(_ status: RPCStatus) {
        let code = Code(rawValue: Int(status.code.rawValue)) ?? .unknown
        self.init(code: code, message: status.message)
    }
}

extension Metadata {
    private static let statusDetails = "grpc-status-details-bin"

    /// The trailing metadata of a status: the details of an error as `google.rpc.Status`, and the
    /// server's own ``RPCStatus/trailers``.
    init(trailersOf status: RPCStatus) {
        self.init()
        for (key, value) in status.trailers.sorted(by: { $0.key < $1.key }) {
            addString(Self.ascii(value), forKey: key)
        }
        if !status.details.isEmpty {
            addBinary(StatusMessage(status).wireBytes, forKey: Self.statusDetails)
        }
    }

    fileprivate var details: [RPCStatus.Detail] {
        guard let bytes = self[binaryValues: Self.statusDetails].first(where: { _ in true }),
            let status = try? StatusMessage(wire: bytes)
        else { return [] }
        return status.decoded.details
    }

    /// The server's own trailers, without the transport's keys and without binary values.
    fileprivate var trailers: [String: String] {
        var result: [String: String] = [:]
        for case (let key, .string(let value)) in self {
            let key = key.lowercased()
            let isOfTheTransport =
                key.hasPrefix(":") || key.hasPrefix("grpc-") || key == "content-type"
            if !isOfTheTransport, !key.hasSuffix("-bin") { result[key] = value }
        }
        return result
    }
}

extension RPCStatus {
    init(_ status: Status, _ trailing: Metadata) {
        let code = Code(rawValue: Int32(status.code.rawValue)) ?? .unknown
        self.init(code, status.message, details: trailing.details)
        trailers = trailing.trailers
    }

    /// Converts an error of the client's own transport. A connection error becomes `UNAVAILABLE`,
    /// because a retry may succeed.
    init(transport error: any Error) {
        if error is CancellationError {
            self.init(.cancelled, "The call was cancelled.")
            return
        }
        guard let error = error as? RPCError else {
            self.init(.unavailable, "The connection to the server was lost.")
            return
        }
        switch error.code {
        case .cancelled, .unknown, .internalError, .unavailable:
            self.init(.unavailable, "The server cannot be reached: \(error.message)")
        default:
            let code = Code(rawValue: Int32(error.code.rawValue)) ?? .unknown
            self.init(code, error.message)
        }
    }

    static let cancelledByCaller = RPCStatus(.cancelled, "The call was cancelled.")
    package static let timedOut = RPCStatus(
        .deadlineExceeded, "The call took longer than its deadline.")
}
