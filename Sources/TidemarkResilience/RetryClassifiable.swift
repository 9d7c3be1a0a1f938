/// An error that knows what it means for trying again. Conform an error of your own, and ``Retry`` needs
/// no classifier for it.
public protocol RetryClassifiable: Error {
    var failure: Failure { get }
}

extension Failure {
    /// What an error means for trying again, by what is known of its type.
    ///
    /// In this order: what the error says itself (``RetryClassifiable``: `FirestoreError`,
    /// `AccountError`, ``HTTPStatusError``, yours), a cancellation, what can never be encoded or
    /// decoded, an attempt or a ``Retry`` that ended already, `URLError` and the errors of sockets,
    /// errors of AsyncHTTPClient and SwiftNIO. Everything else is ``Kind/unknown``, which is tried again.
    public init(_ error: any Error) {
        switch error {
        case let known as any RetryClassifiable: self = known.failure
        case is CancellationError: self.init(.cancelled)
        // The same bytes are as wrong the next time.
        case is EncodingError, is DecodingError: self.init(.permanent)
        case let ended as RetryError: self.init(ended)
        default:
            self =
                Failure(systemError: error) ?? Failure(networkLibraryError: error)
                ?? Failure(.unknown)
        }
    }

    /// Of a call inside a call: what was tried often enough is not multiplied.
    private init(_ ended: RetryError) {
        self.init(ended.reason == .cancelled ? .cancelled : .permanent)
    }
}

extension AttemptTimedOut: RetryClassifiable {
    public var failure: Failure { Failure(.transient) }
}
