import TidemarkModel
import TidemarkStore

extension RPCStatus {
    /// Creates the caller's status for a failure of the store.
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
            // A server does not encrypt its files.
            case .keyMissing, .wrongKey, .notEncrypted, .olderEncryption: .failedPrecondition
            case .noFullText: .unimplemented
            case .newerSchema, .invalidStatement: .internal
            }
        self.init(code, error.message)
    }
}
