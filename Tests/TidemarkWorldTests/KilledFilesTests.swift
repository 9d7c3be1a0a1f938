import Foundation
import Testing
import TestSupport
import TidemarkModel
import TidemarkSimulation

/// A killed process closes nothing. It leaves a file, and a log that was not moved into the file.
@Suite(.oneCore) struct KilledFilesTests {
    @Test func `processes find the logs of those before them`() throws {
        var (clients, server) = (0, 0)
        for seed in UInt64(0)..<60 {
            let world = try World(WorldSettings(seed: seed))
            try world.run()
            clients += world.logsLeft.clients
            server += world.logsLeft.server
        }
        #expect(clients > 60 && server > 60, "\(clients) of clients, \(server) of servers")
    }

    private func writeAndKill(_ loss: (World) throws -> Void) throws {
        let world = try World(WorldSettings(seed: 1))
        defer { world.end() }
        let client = world.clients[0]
        client.setNetwork(false, isNoticed: true)
        try world.pass(.seconds(1))
        for _ in 0..<3 { world.write(client) }
        try world.pass(.seconds(1))
        client.kill()
        try loss(world)
        client.start()
        try world.heal()
    }

    @Test func `what was journalled lies in the log that is left`() throws {
        try writeAndKill { world in
            #expect(world.logsLeft.clients == 1)
        }
        // If the log is deleted, the write is lost, and the world reports the loss.
        #expect(throws: WorldViolation.self) {
            try writeAndKill { world in
                try FileManager.default.removeItem(atPath: world.clients[0].cacheFile + "-wal")
            }
        }
    }
}
