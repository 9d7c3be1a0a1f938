import TidemarkHTTP
import TidemarkPhones
import TidemarkServer

/// The server of the pictures. It has one gate for all networks, so each picture has one address.
struct LaunchPictures: Sendable {
    private let server: PictureServer
    private let gate = NetworkGate(host: "127.0.0.1", port: 0)
    /// The address as `HOST:PORT`.
    let place: String

    init() async throws {
        server = try PictureServer.ofSmallPictures()
        let port = try await gate.open(to: try await server.start(), .healthy)
        place = "127.0.0.1:\(port)"
    }

    func play(_ network: LaunchNetwork) async throws {
        try await gate.insist(on: network.pictures)
    }

    func close() async {
        await gate.close()
        await server.stop()
    }
}
