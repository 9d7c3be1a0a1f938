import Foundation

extension CallerPart {
    /// Runs the part in a child process.
    func run(count: Int, folder: URL, raw: Bool, only: [String]) async throws {
        let workload = Workload(count: count)
        if raw { return try BenchmarkChild.report(asRaw(workload, folder)) }
        switch self {
        case .load: try BenchmarkChild.report(Self.load(workload, folder))
        case .index: try BenchmarkChild.report(Self.index(workload, folder))
        case .first:
            let scheduler = HeldScheduler()
            let steps = try CallerSteps(workload, folder, only: only, scheduler: scheduler)
            let samples = try await steps.first(scheduler)
            await steps.close()
            try BenchmarkChild.report(samples)
        case .reads, .writes:
            let steps = try CallerSteps(workload, folder, only: only)
            let samples = self == .reads ? try await steps.reads() : try await steps.writes()
            await steps.close()
            try BenchmarkChild.report(samples)
        }
    }

    /// Opens the cache's file under the name that an app's client gives it.
    private static func engine(_ folder: URL) throws -> ClientEngine {
        try ClientEngine(folder, file: "benchmark._28default_29.sqlite", cacheSizeBytes: nil)
    }

    private static func load(_ workload: Workload, _ folder: URL) throws -> [ClientSample] {
        let engine = try engine(folder)
        let rate = EngineSteps(workload: workload, folder: folder).load(engine, indexing: nil).rate
        engine.close()
        return [
            ClientSample("load", rate),
            ClientSample("size", FileManager.default.megabytes(in: folder)),
        ]
    }

    private static func index(_ workload: Workload, _ folder: URL) throws -> [ClientSample] {
        let engine = try engine(folder)
        precondition(engine.first(workload.newest(ofConversation: workload.count / 100)) == 50)
        engine.settle()
        _ = engine.buildIndexes()
        _ = engine.moveLog()
        engine.close()
        return []
    }

    private func asRaw(_ workload: Workload, _ folder: URL) -> [ClientSample] {
        let raw = RawDatabase(folder.appending(path: "raw.sqlite").path)
        if self == .load {
            for start in stride(from: 0, to: workload.count, by: 500) {
                raw.load(
                    (start..<min(start + 500, workload.count)).map { RawDatabase.Row(workload, $0) }
                )
            }
            return []
        }
        precondition(raw.point(workload.id(17)) == 1)
        let name = workload.conversation(workload.count / 100)
        let taken = time { precondition(raw.conversation(name) == 50) }
        return [ClientSample(CallerStep.firstQuery.rawValue, taken)]
    }
}
