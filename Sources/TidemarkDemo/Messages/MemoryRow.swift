import Foundation
import Tidemark
import TidemarkApp
import TidemarkModel

/// A conversation that is paged to its end several times, in a separate process whose memory is
/// measured.
struct MemoryRow: ScenarioRow {
    static let passes = 5
    /// The name of the figures with the MiB after each page of all passes.
    static let series = "MiB by page"
    private let conversation: Conversation

    init(_ events: [HistoryEvent]) { conversation = Conversation("memory", events) }

    let slug = "memory"
    var name: String {
        "page a conversation of \(grouped(conversation.events.count)) \(Self.passes) times over"
    }
    /// The app holds the shown messages, at most 4 KiB for each. Another pass must hold nothing
    /// more.
    var bar: Bar {
        let shown = Double(conversation.events.count) * 4 / 1_024
        return Bar(
            showsContentOffline: false,
            most: [
                "MiB more at the last page than at the first": shown + 4,
                "MiB more at the last time than at the second": 4,
            ])
    }
    var seed: [Mutation] { conversation.seed }

    /// Predicts the pages of the first time, and the request for changes of each later one.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        var plan = try await conversation.plan(firestore)
        for _ in 0..<Self.passes {
            plan.start()
            while plan.hasMore { plan.loadMore() }
            plan.close()
        }
        return Forecast(plan)
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        try await visit.untilOnline()
        let own = [
            "demo", "page", "--side", side.rawValue, "--passes", "\(Self.passes)",
            "--conversation", conversation.id(side),
        ]
        let app = AppProcess(own + PlaceOptions.arguments(visit))
        var shown: [ShownItem] = []
        var passes: [(first: Double, last: Double)] = []
        var pages: [Double] = []
        for await words in try app.start() {
            switch words.first {
            case "shown": shown.append(ShownItem(id: words[1], version: .min))
            case "page": pages.append(Double(words[1]) ?? .infinity)
            case "pass":
                passes.append((Double(words[1]) ?? .infinity, Double(words[2]) ?? .infinity))
            default: break
            }
        }
        guard passes.count == Self.passes else { throw CancellationError() }
        visit.isUpToDate()
        visit.measured(Self.series, pages)
        visit.measured("MiB", passes[Self.passes - 1].last)
        visit.measured(
            "MiB more at the last page than at the first", passes[0].last - passes[0].first)
        visit.measured(
            "MiB more at the last time than at the second",
            passes[Self.passes - 1].last - passes[1].last)
        return shown
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Truth(living: try await conversation.truth(side, server).living.mapValues { _ in .min })
    }
}
