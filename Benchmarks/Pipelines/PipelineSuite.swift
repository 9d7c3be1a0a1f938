import Foundation
import Tidemark
import TidemarkLivePipelines
import TidemarkModel
import TidemarkPipelines
import TidemarkStore
import TidemarkSync
import TidemarkTesting

/// Measures pipelines on the device: figures by group over many cached documents, a figure after
/// one change, a page by an index, and a search for a word.
struct PipelineSuite {
    let count: Int
    let folder: URL
    let only: [String]
    let report: Report

    static let groups = Bar("figures by group, to raw SQLite's scan", below: 1.5, "x")
    static let change = Bar("a live figure after one change", below: 100, "µs")
    static let page = Bar("50 rows by index, to the query", below: 1.2, "x")
    static let search = Bar("search for a word among 100,000 messages", below: 10, "ms")
    static let bars = [groups, change, page, search]

    /// - Returns: True if all bars hold.
    func run() async throws -> Bool {
        print("\npipelines: on the device, among \(count) documents")
        var holds = true
        func check(_ bar: Bar, _ measure: () async throws -> (Double, String)) async throws {
            if !only.isEmpty, !only.contains(where: { bar.name.hasPrefix($0) }) { return }
            let (figure, detail) = try await measure()
            report.add(bar, figure, detail: detail)
            if !bar.holds(figure) { holds = false }
        }
        let workload = Workload(count: count)
        try await check(Self.change) { try changes(workload) }
        if only.isEmpty || !only.allSatisfy({ Self.change.name.hasPrefix($0) }) {
            let place = folder.appending(path: "pipelines")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try load(workload, place)
            try await check(Self.groups) { try await figures(workload, place) }
            try await check(Self.page) { try await page(workload, place) }
            try await check(Self.search) { try await search(place) }
        }
        return holds
    }

    // MARK: Over the cache

    private func load(_ workload: Workload, _ place: URL) throws {
        let engine = try ClientEngine(
            place, file: "benchmark._28default_29.sqlite", cacheSizeBytes: nil)
        _ = EngineSteps(workload: workload, folder: place).load(engine, indexing: workload.top)
        engine.close()
        let raw = RawDatabase(place.appending(path: "raw.sqlite").path)
        for start in stride(from: 0, to: count, by: 500) {
            raw.load((start..<min(start + 500, count)).map { RawDatabase.Row(workload, $0) })
        }
    }

    /// Opens the cache as an app does, without a server.
    private func opened(
        _ place: URL, project: String = Workload.database.project
    ) throws -> Firestore {
        try Firestore(
            projectID: project,
            settings: FirestoreSettings(cache: .directory(place.path), cacheSizeBytes: nil),
            environment: SyncEnvironment(
                transport: ScriptedTransport(), scheduler: DispatchScheduler(),
                now: { Timestamp(date: Date()) }, random: { Double.random(in: 0..<1) }))
    }

    private func figures(
        _ workload: Workload, _ place: URL
    ) async throws -> (Double, String) {
        let raw = RawDatabase(place.appending(path: "raw.sqlite").path)
        var sums: [String: Int64] = [:]
        let yardstick = (0..<3).map { _ in time { sums = raw.likesBySender() } }.min()!
        let firestore = try opened(place)
        let pipeline = firestore.pipeline().collection(workload.collection)
            .aggregate(
                [CountAll().as("messages"), Field("likes").sum().as("likes")],
                groups: [Field("senderId")])
        var ours = Double.infinity
        for _ in 0..<3 {
            var found: [PipelineResult] = []
            let taken = try await time {
                found = try await pipeline.execute(source: .cache).results
            }
            ours = min(ours, taken)
            let own = Dictionary(
                uniqueKeysWithValues: found.map {
                    ($0.get("senderId") as? String ?? "", $0.get("likes") as? Int64 ?? -1)
                })
            precondition(own == sums, "the pipeline and the yardstick differ")
        }
        await firestore.terminate()
        return (
            ours / yardstick,
            String(
                format: "%.0f ms to %.0f ms, %d groups", ours / 1e3, yardstick / 1e3, sums.count)
        )
    }

    private func page(_ workload: Workload, _ place: URL) async throws -> (Double, String) {
        let firestore = try opened(place)
        let query = firestore.collection(workload.collection)
            .order(by: "timestamp", descending: true).limit(to: 50)
        let pipeline = query.pipeline()
        _ = try await query.getDocuments(source: .cache)
        let ours = try await median(400) { _ in
            try await pipeline.execute(source: .cache).results.count
        }
        let theirs = try await median(400) { _ in
            try await query.getDocuments(source: .cache).documents.count
        }
        let anew = try await median(400) { _ in
            try await query.pipeline().execute(source: .cache).results.count
        }
        await firestore.terminate()
        return (
            ours / theirs,
            String(
                format: "%.0f µs to %.0f µs, and %.0f µs if it is made anew", ours, theirs, anew)
        )
    }

    // MARK: Words

    /// Searches 100,000 messages of twelve words each. A word of the searches is in 200 of them.
    private func search(_ place: URL) async throws -> (Double, String) {
        let messages = 100_000
        let database = try DatabaseID(project: "words")
        let store = try DocumentStore(
            .file(place.appending(path: "words._28default_29.sqlite").path))
        for start in stride(from: 0, to: messages, by: 500) {
            try store.write { transaction in
                let table = transaction.documents(of: database)
                for number in start..<start + 500 { try table.put(Self.message(number)) }
            }
        }
        try store.close()
        let firestore = try opened(place, project: "words")
        try await firestore.setWordIndexes([
            WordIndex(collectionID: "messages", fields: ["text"])
        ])
        let filling = await time {
            await withCheckedContinuation { done in
                firestore.engine.finishIndexes { done.resume() }
            }
        }
        var found = 0
        let each = try await median(100) { round in
            let snapshot = try await firestore.pipeline().collection("messages")
                .search(query: "rare\(round)").execute(source: .cache)
            precondition(snapshot.searched.first?.usesIndex == true, "no index was used")
            found = snapshot.results.count
            return found
        }
        precondition(found == messages / 500, "\(found) messages were found")
        await firestore.terminate()
        return (
            each / 1e3,
            String(format: "%d found, the index filled in %.1f s", found, filling / 1e6)
        )
    }

    private static func message(_ number: Int) -> StoredDocument {
        let words = (0..<11).map { "w\((number &* 31 &+ $0 &* 7_919) % 20_000)" }
        let text = (words + ["rare\(number % 500)"]).joined(separator: " ")
        return StoredDocument(
            path: DocumentPath(unchecked: "messages/m\(number)"), kind: .found,
            contents: EncodedFields(["text": .string(text)]), createTime: .epoch,
            updateTime: .epoch, readTime: .epoch)
    }

    // MARK: After one change

    /// Measures the step of a live pipeline alone, without the listener that reports the change.
    private func changes(_ workload: Workload) throws -> (Double, String) {
        let pipeline = TidemarkModel.Pipeline(stages: [
            .init(name: "collection", arguments: [.reference("/" + workload.collection)]),
            .init(
                name: "aggregate",
                arguments: [
                    .map([
                        .init(key: "n", value: .call("count", [])),
                        .init(key: "likes", value: .call("sum", [.field("likes")])),
                    ]), .map([.init(key: "read", value: .field("read"))]),
                ]),
        ])
        var live = LivePipeline(try pipeline.validated(in: Workload.database), sourceCount: 1)
        let context = PipelineContext(database: Workload.database, now: .epoch, seed: 1)
        for start in stride(from: 0, to: count, by: 500) {
            let changes = (start..<min(start + 500, count)).map {
                LivePipeline.Change.set(workload.document($0))
            }
            try live.step(changes, of: 0, in: context)
        }
        _ = try live.rows(in: context)
        let documents = (0..<1_000).map { round in
            let number = workload.scattered(round)
            var fields = workload.fields(number)
            fields["likes"] = .integer(Int64(round))
            return Document(
                path: workload.path(number), fields: fields, createTime: .epoch,
                updateTime: .epoch)
        }
        let each = try median(documents.count) { round in
            try live.step([.set(documents[round])], of: 0, in: context)
            return try live.rows(in: context).count
        }
        return (each, "a count and a sum in two groups")
    }
}

extension RawDatabase {
    /// Adds the likes of each sender's messages, decoding these two fields of every row.
    func likesBySender() -> [String: Int64] {
        var sums: [String: Int64] = [:]
        let (sender, likes) = (FieldPath(name: "senderId"), FieldPath(name: "likes"))
        eachBody { body in
            let fields = EncodedFields(trusted: body)
            guard case .string(let name)? = fields[sender],
                case .integer(let number)? = fields[likes]
            else { return }
            sums[name, default: 0] += number
        }
        return sums
    }
}
