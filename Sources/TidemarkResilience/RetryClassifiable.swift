/// An error that classifies itself for retries. ``Retry`` needs no classifier for errors that
/// conform.
public protocol RetryClassifiable: Error {
    var failure: Failure { get }
}

extension Failure {
    /// Classifies an error for retries, by its type.
    ///
    /// The first match counts: an error that classifies itself (``RetryClassifiable``:
    /// `FirestoreError`, `AccountError`, ``HTTPStatusError``, your own types), a cancellation, an
    /// encoding or decoding error, an attempt or a ``Retry`` that has ended, `URLError` and socket
    /// errors, errors of AsyncHTTPClient and SwiftNIO. Any other error is ``Kind/unknown`` and is
    /// retried.
    public init(_ error: any Error) {
        switch error {
        case let known as any RetryClassifiable: self = known.failure
        case is CancellationError: self.init(.cancelled)
        // The same bytes will fail again.
        case is EncodingError, is DecodingError: self.init(.permanent)
        case let ended as RetryError: self.init(ended)
        default:
            self =
                Failure(systemError: error) ?? Failure(networkLibraryError: error)
                ?? Failure(.unknown)
        }
    }

    /// Classifies the failure of a nested call. A call that was retried enough is not retried
    /// again.
    private init(_ ended: RetryError) {
        self.init(ended.reason == .cancelled ? .cancelled : .permanent)
    }
}

extension AttemptTimedOut: RetryClassifiable {
    public var failure: Failure { Failure(.transient) }
}
