public import TidemarkModel
public import TidemarkResilience

extension RPCStatus: RetryClassifiable {
    /// As Firestore's service configuration has it for reads, and a transaction that lost against
    /// another one may be tried again as a whole. A day's quota is not waited for.
    public var failure: Failure {
        switch code {
        case .aborted: return Failure(.transient, hadNoEffect: true)
        case .unknown: return Failure(.unknown)
        case .resourceExhausted where message.utf8.starts(with: "Quota exceeded".utf8):
            return Failure(.throttled, hint: .never, hadNoEffect: true)
        default: return RetryTable.reads.failure(self, now: Timestamp(microseconds: 0))
        }
    }
}
