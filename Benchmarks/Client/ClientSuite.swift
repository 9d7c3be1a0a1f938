import Foundation
import Tidemark

/// First content from disk: a client is made on a cache, and the newest 50 of a query are read from
/// it; beside a connection of raw SQLite made on a file, and the same 50 read.
struct ClientSuite {
    let count: Int
    let folder: URL
    let report: Report

    func run() async throws {
        for size in Set([1_000, 11_000, count]).sorted() {
            try await measure(Workload(count: size))
        }
    }

    private struct Fixture {
        let workload: Workload
        let cache: CacheFile
        let rawFolder: URL

        func openRaw() -> RawDatabase {
            RawDatabase(rawFolder.appending(path: "raw.sqlite").path)
        }

        func top(_ client: Firestore) -> Query {
            client.collection(workload.collection).order(by: "timestamp", descending: true)
                .limit(to: 50)
        }

        func conversation(_ client: Firestore, _ number: Int) -> Query {
            client.collection(workload.collection)
                .whereField("conversationId", isEqualTo: workload.conversation(number))
                .order(by: "timestamp", descending: true).limit(to: 50)
        }

        func documents(of query: Query) async throws -> Int {
            try await query.getDocuments(source: .cache).documents
                .count { $0.get("text") is String }
        }
    }

    private func measure(_ workload: Workload) async throws {
        report.begin("client", "a cache of \(workload.count)", yardstick: "raw SQLite")
        let place = folder.appending(path: "client-\(workload.count)")
        let fixture = Fixture(
            workload: workload,
            cache: CacheFile(workload: workload, folder: place.appending(path: "cache")),
            rawFolder: place.appending(path: "raw"))
        try FileManager.default.createDirectory(
            at: fixture.rawFolder, withIntermediateDirectories: true)
        try await fixture.cache.fill()
        try await read(fixture)
        try await openCold(fixture)
    }

    /// In one client that stays open.
    private func read(_ fixture: Fixture) async throws {
        let raw = fixture.openRaw()
        // By name, as a server sends them, so that the newest lie as far apart in both files.
        let rows = (0..<fixture.workload.count).map { RawDatabase.Row(fixture.workload, $0) }
        raw.load(rows.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) })
        let client = try fixture.cache.open()
        report.add(
            "first 50 newest, no index yet",
            try await median(1) { _ in try await fixture.documents(of: fixture.top(client)) },
            median(1) { _ in raw.top() })
        raw.indexTimes()
        raw.indexConversations()
        _ = try await fixture.documents(of: fixture.conversation(client, 0))
        let indexing = await time {
            await withCheckedContinuation { done in
                client.engine.finishIndexes { done.resume() }
            }
        }
        report.add("indexes for both queries, when idle", indexing)
        report.add(
            "first 50 newest",
            try await median(300) { _ in try await fixture.documents(of: fixture.top(client)) },
            median(300) { _ in raw.top() })
        report.add(
            "conversation, 50 newest",
            try await median(300) {
                try await fixture.documents(of: fixture.conversation(client, $0))
            },
            median(300) { raw.conversation(fixture.workload.conversation($0)) })
        let ids = (0..<2_000).map { fixture.workload.id(fixture.workload.scattered($0)) }
        let collection = client.collection(fixture.workload.collection)
        report.add(
            "point read",
            try await median(2_000) {
                try await collection.document(ids[$0]).getDocument(source: .cache).exists ? 1 : 0
            },
            median(2_000) { raw.point(ids[$0]) })
        await client.terminate()
    }

    /// In a new client each time.
    private func openCold(_ fixture: Fixture) async throws {
        func open(_ rounds: Int, evicting: Bool) async throws -> (ours: Double, raw: Double) {
            var (ours, raw): ([Double], [Double]) = ([], [])
            for _ in 0..<rounds {
                if evicting { _ = CacheFile.evict(fixture.cache.folder) }
                let start = ContinuousClock.now
                let client = try fixture.cache.open()
                let found = try await fixture.documents(of: fixture.top(client))
                ours.append((ContinuousClock.now - start) / .microseconds(1))
                precondition(found == 50)
                await client.terminate()
                if evicting { _ = CacheFile.evict(fixture.rawFolder) }
                raw.append(time { precondition(fixture.openRaw().top() == 50) })
            }
            return (ours.median, raw.median)
        }
        let warm = try await open(51, evicting: false)
        report.add("opened, then first 50 newest", warm.ours, warm.raw)
        guard CacheFile.evict(fixture.cache.folder) else { return }
        let cold = try await open(21, evicting: true)
        report.add("  no file in the system's cache", cold.ours, cold.raw)
    }
}
