import Foundation
import Testing
import TidemarkHealth

// The examples of the articles, line by line: the tidy tests compare them.

@MainActor @Suite(.timeLimit(.minutes(5))) struct `The articles on health` {
    @Test func `import an export and show a summary`() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-article-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let export = folder + "/export.xml"
        var bytes = Data()
        _ = HealthGenerator(days: 3, seed: 1).generate { bytes += $0 }
        try bytes.write(to: URL(filePath: export))
        let now: Int64 = 1_778_400_000

        let store = try HealthStore(path: folder + "/health.sqlite")
        let report = try await HealthImport(into: store).run(export) { progress in
            print(progress.bytesRead, progress.bytesTotal)
        }
        print(report.added, report.counts)
        #expect(report.added > 0)

        let summary = HealthSummaryModel(store) { HealthMoment(seconds: now, offset: 60) }
        while summary.refreshes == 0 { await Task.yield() }
        #expect(summary.summary.stepsToday != nil)
    }
}
