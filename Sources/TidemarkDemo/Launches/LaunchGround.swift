import Foundation

/// What apps are launched on: a server with accounts, and a gate for each network in front of it.
struct LaunchGround {
    let folder: URL
    let server: ServerProcess
    let gates: LaunchGates
    let accountsPort: Int

    /// - Parameter name: Of a folder that is there as long as the body runs.
    static func play(
        _ name: String, on networks: [LaunchNetwork], _ body: (LaunchGround) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-\(name)-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = folder.appendingPathComponent("server")
        let server = try await ServerProcess(
            data: data, options: ["--accounts-port", "0"] + LaunchNetwork.serverOptions)
        defer { server.stop() }
        let ports = try JSONDecoder().decode(
            Ports.self, from: Data(contentsOf: data.appendingPathComponent("ports.json")))
        let gates = try await LaunchGates(
            firestore: server.directPort, accounts: ports.accounts, networks)
        let ground = LaunchGround(
            folder: folder, server: server, gates: gates, accountsPort: ports.accounts)
        do { try await body(ground) } catch {
            await gates.close()
            throw error
        }
        await gates.close()
    }

    private struct Ports: Decodable {
        let accounts: Int
    }
}
