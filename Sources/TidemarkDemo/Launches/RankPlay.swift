import Foundation
import Tidemark
import TidemarkApp
import TidemarkModel
import TidemarkServer

/// Who has more stamps: every user read, as it was, and counted.
struct RankPlay {
    private static let collection = "users"
    private static let stamps = "totalStamps"
    private static let count = 5_000
    private static let mine = 2_000

    let ground: LaunchGround

    static var users: [Mutation] {
        (0..<count).map { number in
            Mutation(
                path: DocumentPath(unchecked: "\(collection)/c\(number)"),
                .set([stamps: .integer(Int64(number))]))
        }
    }

    func play(
        _ network: LaunchNetwork, _ place: LaunchPlace
    ) async throws -> LaunchScenario<RankFigure> {
        let before = try await figure(.before, network, place) { above in
            try await above.getDocuments(source: .server, within: .seconds(60)).count
        }
        let after = try await figure(.after, network, place) { above in
            try await above.count.getAggregation(source: .server, within: .seconds(60))
                .count.intValue
        }
        let most = (before.reads + 999) / 1_000
        return LaunchScenario(
            name: "rank", network: network.rawValue,
            holds: after.rank == before.rank && after.reads <= most,
            bar: "the same rank for a read for each 1,000 users above: \(most)", before: before,
            after: after)
    }

    private func figure(
        _ side: Side, _ network: LaunchNetwork, _ place: LaunchPlace,
        _ above: (Tidemark.Query) async throws -> Int
    ) async throws -> RankFigure {
        let label = "rank-\(network.rawValue)-\(side.rawValue)"
        let folder = ground.folder.appendingPathComponent(label)
        try await StampsApp(folder: folder.path).signIn(ground.gates.direct)
        let app = try StampsApp(folder: folder.path).start(place, label)
        await app.accounts.load()
        let start = ContinuousClock.now
        let query = app.firestore.collection(Self.collection)
            .whereField(Self.stamps, isGreaterThan: Self.mine)
        let count: Int
        do { count = try await above(query) } catch {
            await app.close()
            throw error
        }
        let time = (ContinuousClock.now - start).milliseconds
        await app.close()
        let reads = try await ground.server.meter()[label]?.reads ?? 0
        return RankFigure(rank: count + 1, reads: reads, ms: time)
    }
}

struct RankFigure: Encodable, Sendable {
    let rank: Int
    /// By the server's meter.
    let reads: Int
    let ms: Double
}
