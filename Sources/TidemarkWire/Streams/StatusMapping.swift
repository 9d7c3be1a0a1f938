import GRPCCore
import TidemarkModel

extension Status {
    init(_ status: RPCStatus) {
        let code = Code(rawValue: Int(status.code.rawValue)) ?? .unknown
        self.init(code: code, message: status.message)
    }
}

extension RPCStatus {
    init(_ status: Status) {
        let code = Code(rawValue: Int32(status.code.rawValue)) ?? .unknown
        self.init(code, status.message)
    }

    /// What a client makes of an error of its own transport. Whatever broke on the way to the server is
    /// `UNAVAILABLE`: trying again may help.
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
    static let timedOut = RPCStatus(.deadlineExceeded, "The call took longer than its deadline.")
}
