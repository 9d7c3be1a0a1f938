import Foundation
import TidemarkModel
import TidemarkTesting

/// A step that is repeated in this process for a profiler.
enum RepeatedStep: String, CaseIterable {
    case warmConversation = "c_conv_warm"
    case resumedConversation = "c_conv_resumed"
    case newest = "d_newest"
    case first = "e_all_limit1"
    case point = "f_lookup"
    case write = "g_write"
    case pendingConversation = "g_conv_with_500_pending"
    case update = "i_update_one"
    case load = "a_load"
    /// A query without an index that serves it.
    case scan = "c_conv_first"
    case scanForNewest = "d_newest_first"
    case backfill = "backfill_b"
    case open = "cold_p"
}

extension EngineSteps {
    private static let duration = Duration.seconds(5)

    /// Fills the cache, and then repeats the step for five seconds.
    ///
    /// - Returns: The median of all rounds, in microseconds.
    func repeating(_ step: RepeatedStep) throws -> Double {
        let filled = [.backfill, .scanForNewest].contains(step) ? loadOnly : fill
        _ = try filled()
        switch step {
        case .load, .open, .write, .pendingConversation, .backfill:
            return try rounds { _ in try freshRound(of: step) }
        default:
            let engine = try ClientEngine(folder)
            defer { engine.close() }
            return try rounds { try round(of: step, engine, $0) }
        }
    }

    private func rounds(_ body: (Int) throws -> Double) rethrows -> Double {
        var times: [Double] = []
        let end = ContinuousClock.now + Self.duration
        while ContinuousClock.now < end { times.append(try body(times.count)) }
        return times.median
    }

    private func loadOnly() throws -> [ClientSample] {
        let engine = try ClientEngine(folder)
        _ = load(engine, indexing: nil)
        engine.close()
        return []
    }

    /// Runs the step as many times as the workload does.
    private func round(
        of step: RepeatedStep, _ engine: ClientEngine, _ number: Int
    ) throws -> Double {
        switch step {
        case .resumedConversation: return resumed(engine)
        case .newest: return repeated(newest, engine)
        case .first:
            return repeated(Query(collectionID: workload.collection, limit: .first(1)), engine)
        case .point:
            let paths = (0..<1_000).map { workload.path(workload.scattered($0)) }
            return median(1_000) { engine.lookUp(paths[$0]) }
        case .update: return update(engine, from: 200 * number)
        case .scan:
            var query = conversation
            query.orders = [Order(FieldPath(name: "seq"), .descending)]
            return time { _ = engine.first(query) }
        case .scanForNewest: return time { precondition(engine.first(newest) == 20) }
        default: return repeated(conversation, engine)
        }
    }

    /// Runs a step that changes its data, in a separate copy.
    private func freshRound(of step: RepeatedStep) throws -> Double {
        let place = folder.deletingLastPathComponent().appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: place) }
        let steps = EngineSteps(workload: workload, folder: place)
        func sample(_ samples: [ClientSample]) -> Double {
            samples.first { $0.step == step.rawValue }!.value
        }
        if step == .load { return 1e6 / sample(try steps.load()) }
        try FileManager.default.copyItem(at: folder, to: place)
        switch step {
        case .open: return sample(try steps.coldPoint()) * 1e3
        case .backfill:
            let engine = try ClientEngine(place)
            defer { engine.close() }
            _ = engine.first(conversation)
            return engine.buildIndexes().reduce(0, +)
        default: return sample(try steps.writes())
        }
    }
}
