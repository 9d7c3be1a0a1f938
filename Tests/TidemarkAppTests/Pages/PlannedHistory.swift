import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkModel
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

/// A random use of a pager, each step of which is planned before it is played. The bill of the
/// local server must be the plan's after each step.
final class PlannedHistory {
    enum Way: CaseIterable {
        case live, younger, keptRight
    }

    static let pageSize = 6
    /// All durations are multiples of it, so that no change is exactly at the overlap.
    private static let step = Duration.seconds(7)
    private static let indexes = """
        {"indexes": [
          {"collectionGroup": "messages", "fields": [
            {"fieldPath": "sentAt", "order": "DESCENDING"}]},
          {"collectionGroup": "messages", "fields": [
            {"fieldPath": "updatedAt", "order": "ASCENDING"}]}]}
        """

    let local: LocalFirestore
    private(set) var steps: [String] = []
    /// The kinds of planned requests that were compared.
    private(set) var kinds: [PlannedRead.Kind: Int] = [:]
    private let edition: DatabaseEdition
    private let way: Way
    private let writer: Firestore
    private let folder: String
    private var app: Firestore
    private var random: SeededRandom
    private var pager: Pager
    private var lastUse: ClosedRange<Timestamp>?
    private var number = 0
    private var planned = PlannedBill()

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        way = Way.allCases[Int(seed % 3)]
        edition = seed / 3 % 2 == 0 ? .standard : .enterprise
        var configuration = FirestoreServer.Configuration()
        configuration.history = .seconds(1_800)
        configuration.editions = DatabaseEditions(edition)
        configuration.indexes = IndexSettings(
            try IndexConfiguration(json: Data(Self.indexes.utf8)))
        local = try .start(configuration: configuration)
        writer = try local.firestore(label: "writer")
        folder =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("plan-\(UUID().uuidString)").path
        app = try local.firestore(label: "app", cache: .directory(folder))
        pager = try Self.pager(app, way)
    }

    private static func pager(_ app: Firestore, _ way: Way) throws -> Pager {
        let pages: PagesFromDisk =
            switch way {
            case .live: .never
            case .younger: .youngerThan(.seconds(3_600))
            case .keptRight: .keptRight(changeTime: "updatedAt", deletedField: "deletedAt")
            }
        return try Pager.messages(
            of: app.document("rooms/blue"), pageSize: pageSize, pagesFromDisk: pages)
    }

    func play() async throws {
        for _ in 0..<pick(0...30) { try await arrive(late: false) }
        for _ in 0..<pick(2...4) {
            try await visit()
            try await pass()
        }
        await local.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: A use

    private func visit() async throws {
        if pick(0...2) == 0 {
            await app.terminate()
            app = try local.firestore(label: "app", cache: .directory(folder))
            steps.append("launch")
        }
        pager = try Self.pager(app, way)
        let before = bill
        var plan = try await pager.plan(
            of: try await documents(), at: local.now, lastUse: lastUse)
        let begun = local.now
        #expect(bill == before, "a plan sends nothing")
        planned = before
        plan.start()
        steps.append("start")
        pager.start()
        try await compare(plan)
        for _ in 0..<pick(0...9) {
            switch pick(0...8) {
            case 8:
                steps.append("open again")
                plan.close()
                try await close()
                local.advance(by: Self.step * pick(0...2))
                plan.now = local.now
                pager = try Self.pager(app, way)
                plan.start()
                pager.start()
            case 0...3:
                steps.append("load more")
                plan.loadMore()
                pager.loadMore()
            case 4:
                steps.append("refresh")
                plan.refresh()
                try await pager.refresh()
            default:
                local.advance(by: Self.step * pick(0...2))
                plan.now = local.now
                let (changed, deleted) = try await change()
                plan.commit(changed, deleting: deleted)
                plan.now = local.now
            }
            try await compare(plan)
        }
        try await close()
        lastUse = begun...local.now
        let end = bill
        #expect(planned.reads + plan.bill.reads == end.reads, "\(steps)")
        for read in plan.reads { kinds[read.kind, default: 0] += 1 }
    }

    /// Closes the pager, and returns when the server knows it. Before that, the device handles
    /// everything that the server has sent, so that it knows with what the pages resume.
    private func close() async throws {
        number += 1
        let bell = app.document("bells/closed-\(number)")
        try await ReadTag.with(label: "closed") {
            for try await snapshot in bell.snapshots(includeMetadataChanges: true)
            where !snapshot.metadata.isFromCache { break }
        }
        // The lookup of a missing document is a read, and a unit.
        planned += .document(bytes: 0)
        pager.close()
        try await ReadTag.with(label: "closed") {
            _ = try await bell.getDocument(source: .server)
        }
    }

    /// Waits until the pager shows the planned rows, and compares the bills.
    private func compare(_ plan: PagerPlan) async throws {
        var due = planned
        due += plan.bill
        let (pager, steps) = (pager, steps)
        do {
            try await until("\(steps.joined(separator: ", "))") {
                let state = pager.current
                let isAsking = pager.store?.isAsking ?? false
                return !state.isLoadingMore && !state.isFromCache && !isAsking && isBilled(due)
                    && state.items.map(\.documentPath) == plan.shown
            }
        } catch {
            let shown = pager.current.items.map(\.documentPath.id)
            throw Differs(
                description: """
                    \(way) \(edition): planned \(due), billed \(bill); \(plan.reads.suffix(4)); \
                    planned rows \(plan.shown.map(\.id)), shown \(shown); \(error)
                    """)
        }
    }

    struct Differs: Error, CustomStringConvertible {
        let description: String
    }

    private func isBilled(_ due: PlannedBill) -> Bool {
        let now = bill
        return edition == .standard ? now.reads == due.reads : now.units == due.units
    }

    private var bill: PlannedBill {
        let row = local.meter().first { $0.label == "app" }
        var units = row?.units ?? BilledUnits()
        units.write = 0
        return PlannedBill(reads: row?.reads ?? 0, units: units)
    }

    // MARK: Changes of others

    /// Lets time pass, in which others write. Within 20 minutes a listener resumes; after 40
    /// minutes the server has forgotten the history.
    private func pass() async throws {
        let isLong = pick(0...1) == 0
        let minutes = isLong ? pick(40...4_000) : pick(1...20)
        let moments = pick(1...8)
        let each = Int(Duration.seconds(60 * minutes) / Self.step) / moments
        // The history behind this change is kept, so the change is the last that is forgotten.
        if isLong { try await ring() }
        for _ in 0..<moments {
            local.advance(by: Self.step * each)
            if pick(0...3) > 0 { _ = try await change() }
        }
        if isLong { for _ in 0..<3 { try await ring() } }
        steps.append("\(minutes) min")
    }

    /// Plays a commit elsewhere, with which the server forgets old changes.
    private func ring() async throws {
        number += 1
        local.advance(by: Self.step)
        try await writer.document("bells/bell").setData(["rings": number])
    }

    /// Plays a random write. Returns the documents that have changed, and those that were deleted.
    private func change() async throws -> ([ExpectedDocument], [DocumentPath]) {
        let known = try await documents()
        guard pick(0...2) > 0, let old = known.randomElement(using: &random) else {
            let path = try await arrive(late: pick(0...4) == 0)
            return (try await documents().filter { $0.path == path }, [])
        }
        let document = writer.document(old.path.text)
        if way == .younger || pick(0...2) > 0 {
            steps.append("edit \(old.path.id)")
            try await document.updateData([
                "text": text(), "updatedAt": FieldValue.serverTimestamp(),
            ])
        } else if way == .live {
            steps.append("delete \(old.path.id)")
            try await document.delete()
            return ([], [old.path])
        } else {
            steps.append("mark \(old.path.id)")
            try await document.updateData([
                "deletedAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ])
        }
        // A write without a change, at the same time, is not sent.
        let now = try await documents().filter { $0.path == old.path }
        return (now.filter { $0.changedAt != old.changedAt }, [])
    }

    @discardableResult
    private func arrive(late: Bool) async throws -> DocumentPath {
        number += 1
        let id = "m\(1_000 + number)"
        let time = late ? local.now.advanced(by: Self.step * -pick(1...400)) : local.now
        steps.append("\(late ? "late " : "")\(id)")
        try await writer.document("rooms/blue/messages/\(id)").setData([
            "sentAt": time, "updatedAt": FieldValue.serverTimestamp(), "text": text(),
        ])
        local.advance(by: Self.step)
        return try DocumentPath("rooms/blue/messages/\(id)")
    }

    private func text() -> String { String(repeating: "x", count: pick(0...9) == 0 ? 5_000 : 20) }

    private func pick(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

    /// Returns the server's documents.
    private func documents() async throws -> [ExpectedDocument] {
        let all = try await writer.collection("rooms/blue/messages").getDocuments(source: .server)
        return all.documents.compactMap { snapshot in
            guard let document = snapshot.document,
                case .timestamp(let time)? = document.fields["sentAt"]
            else { return nil }
            let path = document.path
            // An entry has the names of the document and of its parent, 48 bytes, and a time.
            let entry = 2 * 16 + 32 + 8 + Self.nameBytes(path.text) + Self.nameBytes("rooms/blue")
            return ExpectedDocument(
                path: path, time: time, changedAt: document.updateTime,
                isMarkedDeleted: way == .keptRight && document.fields["deletedAt"] != nil,
                row: ExpectedRow(
                    documentBytes: Document.storageSize(of: document.fields, at: path),
                    entryBytes: entry))
        }
    }

    private static func nameBytes(_ path: String) -> Int { path.utf8.count + 1 }
}
