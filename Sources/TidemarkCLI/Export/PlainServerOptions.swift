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
            host ?? ProcessInfo.processInfo.environment["FIRESTORE_EMULATOR_HOST"]
            ?? "127.0.0.1:8080"
        guard let colon = address.lastIndex(of: ":"),
            let port = Int(address[address.index(after: colon)...]), (1...65_535).contains(port)
        else { throw ValidationError("\(address) is not HOST:PORT.") }
        let transport = GRPCTransport(
            GRPCTransport.Endpoint(
                host: String(address[..<colon]), port: port, usesTLS: false))
        let context = CallContext(
            database: database, label: "tidemark", token: TokenVariable.value ?? "owner")
        do { try await body(transport, context) } catch {
            await transport.close()
            throw error
        }
        await transport.close()
    }
}
