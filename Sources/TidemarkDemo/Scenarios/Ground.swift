import ExampleKit
import Foundation
import Tidemark

/// What every network begins from: a server that holds all the rows, and the devices that were used on
/// it. Made once and copied for each network.
struct Ground {
    /// Deltas reach back five minutes; a device that was used less than that after a change reads it
    /// again. None of these is.
    static let pause: Int64 = 600
    private static let commitSize = 500

    let folder: URL
    /// The server's clock at the end, in seconds since 1970.
    let clock: Int64
    /// The app's, which hold for all clients.
    let rules: ExampleRules

    /// - Parameter clock: No event of any row is after it.
    static func make(
        _ rows: [any ScenarioRow], in folder: URL, clock: Int64, rules: ExampleRules,
        progress: (String) -> Void
    ) async throws -> Ground {
        let ground = Ground(folder: folder, clock: clock + pause, rules: rules)
        let server = try await ground.server()
        defer { server.stop() }
        try await server.setClock(secondsSince1970: clock)
        let direct = DirectServer(server)
        for row in rows {
            progress("preparing: \(row.name)")
            try await direct.play(row.seed, together: commitSize)
        }
        try await server.setClock(secondsSince1970: ground.clock)
        for row in rows {
            progress("preparing: \(row.name), the device's last use")
            for side in Side.allCases {
                let client = try await DeviceClient(
                    side, ground.place(row, side, on: server), label: "preparation")
                try await row.lastUse(side, client.firestore)
                await client.close()
            }
        }
        await direct.close()
        return ground
    }

    /// Nobody has it open any more.
    func copy(to other: URL) throws -> Ground {
        try FileManager.default.copyItem(at: folder, to: other)
        return Ground(folder: other, clock: clock, rules: rules)
    }

    func server(options: [String] = []) async throws -> ServerProcess {
        try await ServerProcess(
            data: folder.appendingPathComponent("server"), rules: rules, options: options)
    }

    func place(
        _ row: any ScenarioRow, _ side: Side, on server: ServerProcess
    ) throws -> DemoPlace {
        let own = folder.appendingPathComponent("devices/\(row.slug)-\(side.rawValue)")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        return DemoPlace(
            port: server.port, accounts: server.accountsPort, folder: own, user: row.user(side))
    }
}
