import Testing
import TidemarkModel

@testable import TidemarkSync

/// The units of plans in a database of the Enterprise edition.
struct ReadPlanUnitTests {
    private func plan(
        _ kind: ReadPlan.Kind, _ question: ReadPlan.Question, _ prediction: ReadPlan.Prediction
    ) -> ReadPlan {
        ReadPlan(
            kind: kind, question: question, pageSize: 50, prediction: prediction, reason: "")
    }

    private func units(_ plan: ReadPlan) -> UnitPrediction {
        plan.units(documentBytes: 6_144, entryBytes: 128)
    }

    @Test func `a page costs its index entries, and its documents by their names`() {
        let range = CoveragePosition.lowest..<CoveragePosition.highest
        let page = units(plan(.page, .items(range), .init(atLeast: 1, atMost: 10)))
        #expect(page.atLeast == BilledUnits(read: 1), "a query without rows")
        #expect(page.atMost == BilledUnits(read: 21) && page.ifUnchanged == nil)
        #expect(page.allows(BilledUnits(read: 21)) && !page.allows(BilledUnits(read: 22)))
    }

    @Test func `changes within the overlap cost as many documents as are repeated`() {
        var prediction = ReadPlan.Prediction(atLeast: 1, atMost: 50, ifUnchanged: 1)
        prediction.rowsIfUnchanged = 0
        let question = ReadPlan.Question.changes(
            since: Timestamp(seconds: 1, nanoseconds: 0), after: nil)
        #expect(units(plan(.delta, question, prediction)).ifUnchanged == BilledUnits(read: 1))
        prediction.rowsIfUnchanged = 1
        #expect(units(plan(.delta, question, prediction)).ifUnchanged == BilledUnits(read: 3))
    }

    @Test func `a resumed listener costs real-time updates, and nothing if nothing changed`() {
        let question = ReadPlan.Question.changes(
            since: Timestamp(seconds: 1, nanoseconds: 0), after: nil)
        let resumed = units(
            plan(.resume, question, .init(atLeast: 0, atMost: 5, ifUnchanged: 0)))
        #expect(resumed.ifUnchanged == BilledUnits() && resumed.atLeast == BilledUnits())
        #expect(resumed.atMost == BilledUnits(realtimeUpdate: 10))
        #expect(!resumed.allows(BilledUnits(read: 1)))
    }

    @Test func `counts cost 32 bytes an item`() {
        let question = ReadPlan.Question.changeCount(
            since: Timestamp(seconds: 1, nanoseconds: 0), upTo: 1_000)
        #expect(units(plan(.count, question, .init(atLeast: 1, atMost: 2))).atMost?.read == 8)
        #expect(units(.nothing).atMost == BilledUnits())
        #expect(units(.sharedMarks).atMost == BilledUnits(read: 2))
    }
}
