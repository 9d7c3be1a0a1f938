import TidemarkHTTP
import TidemarkPhones
import TidemarkServer

/// Where the pictures are: one gate for all networks, so that each has one address.
struct LaunchPictures: Sendable {
    private let server: PictureServer
    private let gate = NetworkGate(host: "127.0.0.1", port: 0)
    /// `HOST:PORT`.
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
