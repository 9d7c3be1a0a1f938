import Synchronization
import Testing
import TestSupport
import TidemarkModel
import TidemarkSync
import TidemarkSimulation

/// Plays random days of a device. After every step, the meter must count what the server bills.
@Suite(.oneCore) struct MeterOracleTests {
    private static let queries: [Query] = {
        let halls = Query(collectionID: "halls")
        let n = FieldPath(name: "n")
        var (few, top, last, none, one) = (halls, halls, halls, halls, halls)
        few.filter = .field(n, .lessThan, .integer(5))
        top.orders = [Order(n, .ascending)]
        top.limit = .first(3)
        last.orders = [Order(n, .ascending)]
        last.limit = .last(2)
        none.filter = .field(n, .equal, .integer(100))
        one.filter = .field(
            .documentID, .equal,
            .reference(
                ReferenceValue(
                    database: World.database, path: DocumentPath(unchecked: "halls/r1"))))
        return [halls, few, top, last, none, one]
    }()

    @Test(arguments: UInt64(0)..<40)
    func `the client counts what the server bills`(seed: UInt64) throws {
        var settings = WorldSettings(seed: seed)
        settings.clients = 1
        settings.history = .seconds(3_600 * 100)
        let world = try World(settings)
        defer { world.end() }
        let device = world.clients[0]
        var dice = SeededRandom(seed: seed)
        for step in 0..<60 {
            let what = act(device, world, &dice)
            try world.pass(.seconds(5))
            let billed = world.server.reads(of: device.name)
            let counted = try counted(by: device, world)
            try #require(counted == billed, "seed \(seed), step \(step), \(what)")
        }
        #expect(world.server.reads(of: device.name) > 20)
    }

    private func act(
        _ device: WorldClient, _ world: World, _ dice: inout SeededRandom
    ) -> String {
        let query = Self.queries.randomElement(using: &dice)!
        let room = DocumentPath(unchecked: "halls/r\(Int.random(in: 0..<12, using: &dice))")
        switch Int.random(in: 0..<12, using: &dice) {
        case 0..<4:
            let fields: MapValue = ["n": .integer(Int64.random(in: 0..<12, using: &dice))]
            let isDelete = Int.random(in: 0..<4, using: &dice) == 0
            let mutation = Mutation(path: room, isDelete ? .delete : .set(fields))
            _ = world.server.commit([mutation], in: World.database)
            return "write \(mutation)"
        case 4:
            device.engine?.read(query, source: .server, deadline: nil) { _ in }
            return "query \(query.canonicalID)"
        case 5:
            device.engine?.aggregate(
                query, [Aggregation(alias: "n", .count(upTo: nil))], deadline: nil
            ) { _ in }
            return "count \(query.canonicalID)"
        case 6:
            device.engine?.read(document: room, source: .server, deadline: nil) { _ in }
            return "get \(room)"
        case 7, 8:
            if device.listeners.count < 4 { device.listen(query) }
            return "listen \(query.canonicalID)"
        case 9:
            if let listener = device.listeners.randomElement(using: &dice) {
                device.unlisten(listener)
            }
            return "unlisten"
        default:
            let minutes = [1, 29, 31, 1_500].randomElement(using: &dice)!
            device.setNetwork(false, isNoticed: true)
            try? world.pass(.seconds(5))
            if Bool.random(using: &dice) {
                _ = world.server.commit(
                    [Mutation(path: room, .set(["n": .integer(3)]))], in: World.database)
            }
            try? world.pass(.seconds(minutes * 60))
            device.setNetwork(true, isNoticed: true)
            return "away for \(minutes) minutes"
        }
    }

    private func counted(by device: WorldClient, _ world: World) throws -> Int {
        let report = Mutex<Result<ReadReport, SyncError>?>(nil)
        device.engine?.readReport { result in report.withLock { $0 = result } }
        try world.pass(.zero)
        return try #require(try report.withLock { $0 }?.get()).reads
    }
}
