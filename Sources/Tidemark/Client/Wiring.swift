import Foundation
import TidemarkWire

/// The connection that a client owns and closes.
package struct Connection: Sendable {
    let transport: GRPCTransport

    init(_ server: FirestoreSettings.Server) {
        transport = GRPCTransport(
            GRPCTransport.Endpoint(host: server.host, port: server.port, usesTLS: server.usesTLS))
    }

    var traffic: (sent: Int, received: Int) { transport.traffic }

    func close() async { await transport.close() }
}

/// The one place where a client's parts meet the real world.
enum Wiring {
    static func environment(_ connection: Connection) -> SyncEnvironment {
        SyncEnvironment(
            transport: connection.transport, scheduler: DispatchScheduler(),
            now: {
                let seconds = Date().timeIntervalSince1970
                return Timestamp(microseconds: Int64(seconds * 1_000_000))
            },
            random: { Double.random(in: 0..<1) })
    }
}
