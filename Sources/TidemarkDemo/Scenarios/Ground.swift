import ExampleKit
import Foundation
import Tidemark

/// What every network begins from: a server that holds all the rows. Made once and copied for each network.
struct Ground {
    /// Deltas reach back five minutes; a device that was used less than that after a change reads it
    /// again. None of these is.
    static let pause: Int64 = 600
    private static let commitSize = 500
    /// By how many seconds the server's clock is moved once all is written: by then no listener could resume
    /// from before it.
    static let settled = resumable + pause
    /// For how many seconds the server can tell a listener what has changed: as long as Firestore bills a
    /// listener that comes back for the changes alone. After it all is sent and billed again.
    static let resumable: Int64 = 1_800

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
        let ground = Ground(folder: folder, clock: clock + settled, rules: rules)
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

    /// Nobody has it open any more.
    func copy(to other: URL) throws -> Ground {
        try FileManager.default.copyItem(at: folder, to: other)
        return Ground(folder: other, clock: clock, rules: rules)
    }

    func server(options: [String] = []) async throws -> ServerProcess {
        try await ServerProcess(
            data: folder.appendingPathComponent("server"), rules: rules,
            options: options + ["--history", "\(Self.resumable)"])
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
