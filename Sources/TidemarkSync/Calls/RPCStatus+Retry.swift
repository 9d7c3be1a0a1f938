public import TidemarkModel
public import TidemarkResilience

extension RPCStatus: RetryClassifiable {
    /// The classification of Firestore's service configuration for reads. A transaction that lost
    /// against another can also be retried as a whole. An exhausted daily quota is not waited for.
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
