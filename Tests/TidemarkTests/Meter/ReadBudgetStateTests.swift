import Synchronization
import TestSupport
import Testing
import TidemarkTesting

@testable import Tidemark

/// An app watches its budgets, and reacts before they are used up.
struct ReadBudgetStateTests {
    private func reader(_ local: LocalFirestore, _ budgets: ReadBudget...) async throws -> Firestore
    {
        let writer = try local.firestore(label: "writer")
        for number in 0..<10 {
            try await writer.document("rooms/r\(number)").setData(["n": number])
        }
        let firestore = try local.firestore(label: "reader")
        firestore.readMeter.setBudgets(budgets)
        return firestore
    }

    private func read(_ count: Int, _ firestore: Firestore) async throws {
        for number in 0..<count {
            _ = try await firestore.document("rooms/r\(number)").getDocument(source: .server)
        }
    }

    @Test func `notices come at their shares, each once`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try await reader(local)
        let texts = Mutex<[String]>([])
        let warn: @Sendable (String) -> Void = { text in texts.withLock { $0.append(text) } }
        let meter = firestore.readMeter
        meter.setBudgets([ReadBudget(.all, readsPerDay: 1_000, .degradeToCache, notices: [50, 80])])
        meter.setBudgets([ReadBudget(.all, readsPerDay: 10, .degradeToCache, notices: [50, 80])])
        let events = meter.events
        let watching = Task {
            for await event in events {
                if case .budgetReached(_, let percent, _) = event { warn("\(percent) % used") }
                if case .budgetSpent = event { return }
            }
        }
        try await read(10, firestore)
        await watching.value
        #expect(texts.withLock { $0 } == ["50 % used", "80 % used"])
    }

    @Test func `the state shows what is spent and what is left`() async throws {
        let local = try LocalFirestore.start()
        let budget = ReadBudget(.all, readsPerDay: 10, .degradeToCache)
        let firestore = try await reader(local, budget)
        #expect(try await firestore.readMeter.budgetStates().map(\.remaining) == [10])
        try await read(4, firestore)
        let state = try #require(try await firestore.readMeter.budgetStates().first)
        #expect(state.budget == budget && state.spent == 4 && state.reserved == 0)
        #expect(state.remaining == 6 && state.share == 0.4 && !state.isUsedUp)
        try await read(6, firestore)
        #expect(try await firestore.readMeter.budgetStates()[0].isUsedUp)
        let stale = try await firestore.document("rooms/r1").getDocument()
        guard case .stale(_, reason: .overBudget(budget)) = stale.freshness else {
            Issue.record("\(stale.freshness)")
            return
        }
    }

    @Test func `changes are followed from the present state on`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try await reader(local, ReadBudget(.all, readsPerDay: 5, .warn))
        var isSaving = false
        var count = 0
        for await states in firestore.readMeter.budgetChanges {
            isSaving = states.contains { $0.share >= 0.8 }
            if isSaving { break }
            try await read(1, firestore)
            count += 1
            try #require(count <= 5)
        }
        #expect(isSaving)
    }

    @Test func `a screen has a budget of its own`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try await reader(
            local, ReadBudget(.screen("Explore"), readsPerDay: 2, .refuse))
        try await ReadTag.with(screen: "Explore") { try await read(2, firestore) }
        try await read(3, firestore)
        let refused = await #expect(throws: FirestoreError.self) {
            try await ReadTag.with(screen: "Explore") { try await read(1, firestore) }
        }
        #expect(refused?.recovery == .waitForBudget)
        #expect(try await firestore.readMeter.budgetStates().map(\.spent) == [2])
    }
}
