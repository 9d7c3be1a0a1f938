import ArgumentParser
import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkWire

/// The options of a server that is called without a cache.
struct PlainServerOptions: ParsableArguments {
    @Option(
        help: "HOST:PORT of a server without TLS. (default: FIRESTORE_EMULATOR_HOST)")
    var host: String?

    /// Calls `body` with a connection, and closes the connection.
    func withTransport(
        _ database: DatabaseID,
        _ body: (any Transport, CallContext) async throws -> Void
    ) async throws {
        let address =
            host ?? ProcessInfo.processInfo.environment.host("FIRESTORE_EMULATOR_HOST")
            ?? "127.0.0.1:8080"
        let transport = GRPCTransport(try FirestorePlace.endpoint(address))
        let context = CallContext(
            database: database, label: "tidemark", token: TokenVariable.value ?? "owner")
        do { try await body(transport, context) } catch {
            await transport.close()
            throw error
        }
        await transport.close()
    }
}
