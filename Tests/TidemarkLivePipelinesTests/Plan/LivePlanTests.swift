import TestSupport
import Testing
import Tidemark
import TidemarkLivePipelines
import TidemarkTesting

/// The plan of a live pipeline is its bill, to the read and to the unit.
@Suite(.ownThread) struct `A plan of a live pipeline` {
    /// `TIDEMARK_LIVE_PLAN_SEEDS` names one seed or a range of them.
    private static let seeds = SeedRange("TIDEMARK_LIVE_PLAN_SEEDS", 0..<300)

    @Test func `equals the bill in random histories`() async throws {
        var kinds: [LivePipelinePlan.Read.Kind: Int] = [:]
        var steps = 0
        for seed in Self.seeds.all {
            let history = try LivePlanHistory(seed: seed)
            do { try await history.play() } catch let error as LivePlanHistory.Differs {
                Issue.record("seed \(seed): \(error)")
            }
            kinds.merge(history.kinds, uniquingKeysWith: +)
            steps += history.steps
        }
        print("plans of live pipelines: \(steps) steps compared, \(kinds)")
        guard Self.seeds.all.count >= 300 else { return }
        #expect(steps > Self.seeds.all.count * 5)
        for kind in LivePipelinePlan.Read.Kind.allCases where kind != .again {
            #expect(kinds[kind, default: 0] > 40, "\(kind) is compared too seldom: \(kinds)")
        }
    }

    private func message(_ number: Int, isRead: Bool = false) -> ExpectedSourceDocument {
        ExpectedSourceDocument(
            path: DocumentPath(unchecked: "messages/m\(number)"),
            fields: ["by": .string("p\(number % 3)"), "isRead": .boolean(isRead)],
            changedAt: Timestamp(seconds: 1_700_000_000 + Int64(number), nanoseconds: 0))
    }

    @Test func `says which listeners there are, and which resume`() async throws {
        let devices = try Devices()
        let device = devices.device
        let unread = device.pipeline().collection("messages")
            .where(Field("isRead").equal(false))
        let people = device.pipeline().collection("people")
        let named = device.pipeline().documents(["people/p1", "people/p2"])
        var now = Timestamp(seconds: 1_700_001_000, nanoseconds: 0)
        let messages = (0..<30).map { message($0, isRead: $0 >= 20) }
        var plan = try await unread.union(with: people).union(with: named)
            .plan(of: messages, at: now)
        #expect(
            plan.listeners.map(\.kind) == [
                .collection("messages"), .collection("people"),
                .document(DocumentPath(unchecked: "people/p1")),
                .document(DocumentPath(unchecked: "people/p2")),
            ])
        #expect(plan.listeners.map(\.isSelecting) == [true, false, false, false])
        #expect(plan.listeners.map(\.bill.reads) == [20, 1, 1, 1] && plan.bill.reads == 23)
        plan.commit([message(0, isRead: true)])
        #expect(plan.bill.reads == 24, "a document that leaves the result is a read")
        plan.commit([message(25, isRead: true)])
        #expect(plan.bill.reads == 24 && plan.reads.last?.kind == .live)
        for (seconds, reads) in [(1_800, 0), (1_801, 22)] as [(Int64, Int)] {
            plan.close()
            now = now.advanced(by: .seconds(seconds))
            plan.now = now
            let before = plan.bill.reads
            plan.open()
            #expect(plan.bill.reads - before == reads)
            #expect(plan.listeners.allSatisfy { $0.resumes == (reads == 0) })
        }
        #expect(devices.reads == 0, "a plan sends nothing")
        await devices.local.stop()
    }

    @Test func `refuses a pipeline that cannot be live`() async throws {
        let devices = try Devices()
        let paths = (0...100).map { "messages/m\($0)" }
        await #expect(throws: FirestoreError.self) {
            _ = try await devices.device.pipeline().documents(paths)
                .plan(of: [], at: Timestamp(seconds: 0, nanoseconds: 0))
        }
        await devices.local.stop()
    }

    #if TIDEMARK_DEFECTS
        @Test(arguments: BillDefect.allCases)
        func `finds a planted defect`(defect: BillDefect) async throws {
            try await BillDefect.$planted.withValue(defect) {
                for seed in 0..<300 as Range<UInt64> {
                    do { try await LivePlanHistory(seed: seed).play() } catch is LivePlanHistory
                        .Differs
                    { return }
                }
                Issue.record("no history finds \(defect)")
            }
        }
    #endif
}
