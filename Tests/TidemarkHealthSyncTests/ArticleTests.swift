import Foundation
import Testing
import Tidemark
import TidemarkApp
import TidemarkHealth
import TidemarkHealthSync
import TidemarkServer

// These are the examples of the module's page and doc comments, line by line. The tidy tests
// compare them.

/// Hides the system's `print`, because a run of the tests prints only results.
private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

@Suite(.timeLimit(.minutes(2))) struct `The article on health days` {
    @Test func `sends them`() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-article-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try HealthStore(path: folder + "/health.sqlite")
        var bytes = Data()
        _ = HealthGenerator(days: 3, seed: 1).generate { bytes += $0 }
        try bytes.write(to: URL(filePath: folder + "/export.xml"))
        _ = try await HealthImport(into: store).run(folder + "/export.xml")
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let firestore = try Firestore(
            projectID: "p", settings: FirestoreSettings(cache: .memory),
            environment: .live(server))

        let days = firestore.collection("users/kim/days")
        let history = try HealthHistory(store, to: days, now: { Timestamp(date: Date()) })
        if let job = try history.job() {
            let backfill = Backfill([.init(job, from: history, to: history)])
            try await backfill.start()
            for await state in await backfill.progress {
                print(state.fraction)
                if state.phase == .complete { break }
            }
        }
        #expect(try await days.getDocuments(source: .server).count >= 3)
        try await back(firestore, into: try HealthStore(path: folder + "/other.sqlite"))
        await firestore.terminate()
        server.close()
    }

    private func back(_ firestore: Firestore, into store: HealthStore) async throws {
        let today = try #require(HealthDay("2026-05-10"))
        let download = try HealthDownload(firestore.collection("users/kim/days"), into: store)
        let job = download.job(days: 90, until: today)
        let returning = Backfill([.init(job, from: download, to: download)])
        try await returning.start()
        for await state in await returning.progress where state.phase == .complete { break }
        #expect(try store.read { try $0.days() }?.contains(today) == true)
    }
}
