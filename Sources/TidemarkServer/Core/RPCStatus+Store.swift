import TidemarkModel
import TidemarkStore

extension RPCStatus {
    /// What a caller is told when the store failed.
    init(storeFailure error: any Error) {
        if let status = error as? RPCStatus {
            self = status
            return
        }
        guard let error = error as? StoreError else {
            self.init(.internal, "The server's store failed.")
            return
        }
        let code: Code =
            switch error {
            case .full: .resourceExhausted
            case .locked, .unreadable, .protected, .keyUnavailable: .unavailable
            case .corrupt: .dataLoss
            // A server's files are not encrypted by it.
            case .keyMissing, .wrongKey, .notEncrypted, .olderEncryption: .failedPrecondition
            case .newerSchema, .invalidStatement: .internal
            }
        self.init(code, error.message)
    }
}
