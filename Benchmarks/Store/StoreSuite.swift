import Foundation
import TidemarkModel
import TidemarkStore

/// Measures the store's steps beside the same steps in raw SQLite.
struct StoreSuite {
    let count: Int
    let folder: URL
    let report: Report

    private struct Fixture {
        let workload: Workload
        let raw: RawDatabase
        let steps: StoreSteps
    }

    func run() throws {
        let workload = Workload(count: count)
        let fixture = Fixture(
            workload: workload, raw: RawDatabase(folder.appending(path: "raw.sqlite").path),
            steps: try StoreSteps(workload, folder.appending(path: "store.sqlite").path))
        report.begin("store", "\(count) documents", yardstick: "raw SQLite")
        try insert(fixture)
        try read(fixture)
        try readByIndex(fixture)
        try write(fixture)
    }

    private func insert(_ fixture: Fixture) throws {
        let (raw, steps) = (fixture.raw, fixture.steps)
        let rows = (0..<count).map { RawDatabase.Row(fixture.workload, $0) }
        let documents = (0..<count).map(steps.document)
        let rawTime = time { raw.load(rows) }
        let ours = try time { try steps.load(documents) }
        report.add(
            "insert, 500 a transaction, no index", ours / Double(count),
            against: rawTime / Double(count),
            atMost: 1.5)
    }

    private func read(_ fixture: Fixture) throws {
        let (workload, raw, steps) = (fixture.workload, fixture.raw, fixture.steps)
        let numbers = (0..<5_000).map(workload.scattered)
        let paths = numbers.map(workload.path)
        let ids = numbers.map(workload.id)
        report.add(
            "point read", try median(5_000) { try steps.point(paths[$0]) },
            against: median(5_000) { raw.point(ids[$0]) }, atMost: 2)
        let first = Query(collectionID: workload.collection, limit: .first(1))
        // This step has no bar: raw SQLite reads a table's first row, and the store reads a key and
        // a document.
        report.add(
            "whole collection, limit 1", try median(500) { _ in try steps.run(first) },
            against: median(500) { _ in raw.first() })
    }

    private func readByIndex(_ fixture: Fixture) throws {
        let (workload, raw, steps) = (fixture.workload, fixture.raw, fixture.steps)
        let queries = (0..<500).map(workload.newest)
        let names = (0..<500).map(workload.conversation)
        report.add(
            "conversation query, no index", try median(1) { try steps.run(queries[$0]) },
            against: median(1) { raw.conversation(names[$0]) }, atMost: 2.5)
        // This step has no bar: the store makes the index in slices, raw SQLite in one statement.
        try add("its index made on demand", steps, raw: time { raw.indexConversations() })
        report.add(
            "conversation query, index", try median(500) { try steps.run(queries[$0]) },
            against: median(500) { raw.conversation(names[$0]) }, atMost: 2.5)

        _ = try steps.run(workload.top)
        try add("an index over one field", steps, raw: time { raw.indexTimes() })
        report.add(
            "top 50", try median(500) { _ in try steps.run(workload.top) },
            against: median(500) { _ in raw.top() }, atMost: 3)
    }

    private func add(_ step: String, _ steps: StoreSteps, raw: Double) throws {
        let slices = try steps.buildIndexes()
        report.add(step, slices.reduce(0, +), against: raw)
        report.add("  the median slice of it", slices.median)
        report.add("  95 of 100 are below", slices.sorted()[slices.count * 95 / 100])
        // The longest slices move the journal into the file.
        report.add("  the longest", slices.max() ?? 0)
    }

    private func write(_ fixture: Fixture) throws {
        let (workload, raw, steps) = (fixture.workload, fixture.raw, fixture.steps)
        let more = (0..<5_000).map { steps.document(count + $0) }
        let rows = (0..<5_000).map { RawDatabase.Row(workload, count + $0) }
        let ours = try time { try steps.load(more) }
        report.add(
            "insert with two indexes", ours / 5_000, against: time { raw.load(rows) } / 5_000,
            atMost: 2.5)
        // The read time differs, because SQLite does not write pages without changes.
        let again = (0..<1_000).map { number in
            var document = more[number]
            document.readTime = Timestamp(seconds: 1_900_000_000, nanoseconds: 0)
            return document
        }
        let changed = (0..<1_000).map {
            RawDatabase.Row(workload, count + $0, likes: 10_000 + $0)
        }
        let single = try median(1_000) { try steps.put(again[$0], .process) }
        let rawSingle = median(1_000) {
            raw.update(changed[$0])
            return 1
        }
        report.add("one write in its transaction, in place", single, against: rawSingle, atMost: 2)
        raw.syncEveryCommit(true)
        let synced = try median(100) { try steps.put(more[$0], .disk) }
        let rawSynced = median(100) {
            raw.update(rows[$0])
            return 1
        }
        report.add("  synced to disk", synced, against: rawSynced, atMost: 1.5)
    }
}
