import Foundation
import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkModel
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

/// The plan of a pager is its bill, to the read and to the unit.
@Suite(.serialized, .timeLimit(.minutes(2))) struct `A plan of a pager` {
    /// `TIDEMARK_PLAN_SEEDS` names one seed or a range of them.
    private static let seeds = SeedRange("TIDEMARK_PLAN_SEEDS", 0..<200)
    /// The kinds of planned requests that were compared so far.
    private static let compared = Mutex<[PlannedRead.Kind: Int]>([:])

    @Test(arguments: Self.seeds.shares)
    func `equals the bill in random histories`(seeds: Range<UInt64>) async throws {
        for seed in seeds {
            let history = try PlannedHistory(seed: seed)
            do { try await history.play() } catch let error as PlannedHistory.Differs {
                Issue.record("seed \(seed): \(error)")
            }
            Self.compared.withLock { $0.merge(history.kinds, uniquingKeysWith: +) }
        }
        // The shares run one after the other.
        guard seeds.upperBound == Self.seeds.all.upperBound, Self.seeds.all.count >= 200 else {
            return
        }
        let kinds = Self.compared.withLock(\.self)
        for kind in [PlannedRead.Kind.page, .resume, .gap, .changes, .lookup, .live] {
            #expect(kinds[kind, default: 0] > 40, "\(kind) is compared too seldom: \(kinds)")
        }
    }

    /// A filter of names misled the client. An answer was stored before the page had come again.
    @Test(arguments: [518, 674, 818] as [UInt64])
    func `equals the bill of a page that is read again`(seed: UInt64) async throws {
        try await PlannedHistory(seed: seed).play()
    }

    private func documents(_ count: Int) throws -> [ExpectedDocument] {
        let documents = try (0..<1_000).map { number in
            let sentAt = Timestamp(seconds: 1_800_000_000 + Int64(number), nanoseconds: 0)
            return ExpectedDocument(
                path: try DocumentPath("rooms/blue/messages/m\(number)"), time: sentAt,
                changedAt: sentAt, row: ExpectedRow(documentBytes: 300, entryBytes: 120))
        }
        return Array(documents.prefix(count))
    }

    @Test func `says what a conversation costs before there is one`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let app = try local.firestore(label: "app")
            let pager = try Pager.messages(of: app.document("rooms/blue"))
            let documents = try documents(1_000)
            let now = Timestamp(seconds: 1_800_002_000, nanoseconds: 0)
            var plan = try await pager.plan(of: documents, at: now)
            plan.start()
            plan.loadMore()
            print(plan.bill.reads, plan.bill.units.read)  // 100 104
            #expect(plan.bill.reads == 100 && plan.bill.units.read == 104)
            #expect(plan.reads.map(\.kind) == [.page, .page] && plan.count == 100)
            var message = documents[0]
            message.path = try DocumentPath("rooms/blue/messages/new")
            message.time = now
            message.changedAt = now
            let opening = plan.bill.reads
            plan.commit([message])  // while the list is open
            let each = plan.bill.reads - opening
            #expect(each == 1 && plan.bill.units.realtimeUpdate == 1)
            // An old message is in no open page, and a deleted one lets another one in.
            plan.commit([documents[0]])
            #expect(plan.bill.reads == 101)
            plan.commit([], deleting: [documents[999].path])
            #expect(plan.bill.reads == 102, "the newest page is full again")
            #expect(local.meter().isEmpty, "a plan sends nothing")
        }
    }

    @Test func `knows when a listener resumes`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let app = try local.firestore(label: "app")
            let pager = try Pager.messages(of: app.document("rooms/blue"))
            let now = Timestamp(seconds: 1_800_002_000, nanoseconds: 0)
            var plan = try await pager.plan(of: try documents(60), at: now)
            func open(after seconds: Int64) -> PlannedRead? {
                plan.now = plan.now.advanced(by: .seconds(seconds))
                plan.start()
                defer { plan.close() }
                return plan.reads.last
            }
            #expect(open(after: 0).map { [$0.rows, $0.bill.reads] } == [50, 50])
            #expect(open(after: 1_800).map { [$0.rows, $0.bill.reads] } == [0, 0])
            #expect(open(after: 1_801).map { [$0.rows, $0.bill.reads] } == [50, 50])
            // A document that was really deleted is looked up once, because nobody names it.
            plan.commit([], deleting: [try DocumentPath("rooms/blue/messages/m59")])
            #expect(open(after: 86_400)?.kind == .lookup)
            #expect(open(after: 86_400)?.kind == .page)
        }
    }

    @Test func `needs a pager that is ordered by a time`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let app = try local.firestore(label: "app")
            try await app.document("names/ann").setData(["name": "Ann"])
            let pager = try Pager(app.collection("names"), orderedBy: "name")
            await #expect(throws: FirestoreError.self) {
                try await pager.plan(of: [], at: Timestamp(seconds: 0, nanoseconds: 0))
            }
        }
    }
}
