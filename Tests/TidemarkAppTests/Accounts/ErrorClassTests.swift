import AsyncHTTPClient
import Testing
import Tidemark
import TidemarkApp
import TidemarkResilience

/// Tests the default classifier with errors of Firestore, accounts and an HTTP library.
struct `What an app's error means by its type` {
    @Test func `a cancellation is one, whoever throws it`() {
        #expect(Failure(HTTPClientError.cancelled).kind == .cancelled)
        #expect(Failure(FirestoreError(.cancelled, "")).kind == .cancelled)
    }

    @Test func `errors of AsyncHTTPClient are known`() {
        #expect(
            Failure(HTTPClientError.connectTimeout) == Failure(.transient, hadNoEffect: true))
        #expect(Failure(HTTPClientError.readTimeout) == Failure(.transient))
        #expect(Failure(HTTPClientError.remoteConnectionClosed) == Failure(.transient))
        #expect(Failure(HTTPClientError.invalidURL) == Failure(.permanent))
        #expect(Failure(HTTPClientError.unsupportedScheme("gopher")) == Failure(.permanent))
    }

    @Test(arguments: [
        (FirestoreErrorCode.unavailable, Failure.Kind.transient), (.aborted, .transient),
        (.deadlineExceeded, .transient), (.resourceExhausted, .throttled),
        (.unauthenticated, .authentication), (.permissionDenied, .permanent),
        (.invalidArgument, .permanent), (.notFound, .permanent), (.unknown, .unknown),
    ])
    func `Firestore's are known by their code`(code: FirestoreErrorCode, kind: Failure.Kind) {
        #expect(Failure(FirestoreError(code, "why")).kind == kind)
    }

    @Test func `a day's quota is not waited for`() {
        let error = FirestoreError(.resourceExhausted, "Quota exceeded.")
        #expect(Failure(error).hint == .never)
    }

    @Test func `an account's errors are known`() {
        #expect(Failure(AccountError.unreachable("")) == Failure(.transient))
        #expect(Failure(AccountError.addressTaken) == Failure(.permanent))
        #expect(Failure(AccountError.tooManyAttempts).kind == .throttled)
        #expect(Failure(AccountError.sessionExpired).kind == .authentication)
    }
}
