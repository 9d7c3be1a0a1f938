import ArgumentParser
import Foundation
import TidemarkAudit
import TidemarkHTTP
import TidemarkWire

/// The database and the bucket of an audit of objects: Google's, or those of a local server.
struct ObjectAuditPlace: Sendable {
    let firestore: GRPCTransport.Endpoint
    let objects: ObjectDirectory
    let project: String
    let tokens: AccountDirectory.Tokens

    /// Uses the options, then the environment, and the cloud if neither names a host.
    ///
    /// - Parameter storage: The address of Cloud Storage, without a slash at its end.
    /// - Throws: `ValidationError` with a sentence.
    init(
        bucket: String, host: String?, storageHost: String?, project: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        token: String? = TokenVariable.value, storage: String = ObjectDirectory.cloud
    ) async throws {
        let host = host ?? environment.host("FIRESTORE_EMULATOR_HOST")
        let storageHost = storageHost ?? environment.host("FIREBASE_STORAGE_EMULATOR_HOST")
        switch (host, storageHost) {
        case (let host?, let storageHost?):
            firestore = try FirestorePlace.endpoint(host)
            _ = try FirestorePlace.endpoint(storageHost)
            self.project = project ?? "demo"
            let shown = token ?? "owner"
            tokens = { _ in shown }
            objects = ObjectDirectory(
                bucket: bucket, base: "http://\(storageHost)", tokens: tokens)
        case (nil, nil):
            firestore = FirestorePlace.google
            (tokens, self.project) = try await FirestorePlace.credentials(
                project, environment: environment, token: token)
            objects = ObjectDirectory(bucket: bucket, base: storage, tokens: tokens)
        case (nil, _?):
            throw ValidationError("No Firestore is named: use --host HOST:PORT.")
        case (_?, nil):
            throw ValidationError("No Storage is named: use --storage-host HOST:PORT.")
        }
    }
}
