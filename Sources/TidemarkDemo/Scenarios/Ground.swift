import ExampleKit
import Foundation
import Tidemark

/// The start of every network's run: a server with the data of all rows. It is made once and copied
/// for each network.
struct Ground {
    /// The pause around the changes, in seconds. A query for changes starts five minutes before the
    /// last one, so a device that was used within five minutes of a change reads the change again.
    /// A longer pause avoids this.
    static let pause: Int64 = 600
    private static let commitSize = 500
    /// The number of seconds by which the server's clock moves after all data is written. Then no
    /// listener can resume from before the data.
    static let settled = resumable + pause
    /// The number of seconds for which the server can send a listener only the changes. Firestore
    /// bills a returning listener only for the changes within the same time; after it, the whole
    /// result is sent and billed again.
    static let resumable: Int64 = 1_800

    let folder: URL
    /// The server's clock at the end of the preparation, in seconds since 1970.
    let clock: Int64
    /// The app's rules, which apply to all clients.
    let rules: ExampleRules
    let edition: DatabaseEdition

    /// - Parameter clock: The server's time in seconds since 1970. No event of any row is later.
    static func make(
        _ rows: [any ScenarioRow], in folder: URL, clock: Int64, rules: ExampleRules,
        edition: DatabaseEdition, progress: (String) -> Void
    ) async throws -> Ground {
        let ground = Ground(
            folder: folder, clock: clock + settled, rules: rules, edition: edition)
        let server = try await ground.server()
        defer { server.stop() }
        try await server.setClock(secondsSince1970: clock)
        let direct = DirectServer(server)
        for row in rows {
            progress("preparing: \(row.name)")
            try await direct.play(row.seed, together: commitSize)
        }
        try await server.setClock(secondsSince1970: ground.clock)
        try await direct.forget(rows.reduce(0) { $0 + $1.seed.count })
        await direct.close()
        return ground
    }

    /// Copies the data. No process may have it open.
    func copy(to other: URL) throws -> Ground {
        try FileManager.default.copyItem(at: folder, to: other)
        return Ground(folder: other, clock: clock, rules: rules, edition: edition)
    }

    func server(options: [String] = []) async throws -> ServerProcess {
        var options = options + ["--history", "\(Self.resumable)"]
        let data = folder.appendingPathComponent("server")
        options += try EnterpriseIndexes.options(of: edition, in: data)
        return try await ServerProcess(data: data, rules: rules, options: options)
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
