import Testing
import TidemarkModel

@testable import TidemarkSync

struct HeldTargetsTests {
    private let budget = ReadBudget(.all, readsPerDay: 10, .degradeToCache)

    private func targets() -> HeldTargets {
        HeldTargets(
            StormBreaker.Bounds(
                requeries: 2, limboDocuments: 3, firstPause: .seconds(60),
                longestPause: .seconds(120)))
    }

    private func next(_ targets: HeldTargets) -> Duration? {
        targets.nextRelease { .seconds(1_000) }
    }

    @Test func `nothing is held, and nothing is to be done`() {
        let targets = targets()
        #expect(targets.reason(of: 2) == nil && next(targets) == nil)
        #expect(targets.heldIDs.isEmpty && !targets.release(2, at: .zero))
    }

    @Test func `a budget holds a target until the next day`() {
        let targets = targets()
        targets.hold(2, .budget(budget))
        #expect(targets.isHeld(2) && targets.reason(of: 2) == .overBudget(budget))
        #expect(targets.reason(of: 4) == nil)
        #expect(next(targets) == .seconds(1_000))
        #expect(targets.release(2, at: .zero), "what the budget says is asked again")
        #expect(!targets.isHeld(2) && targets.reason(of: 2) == nil)
    }

    @Test func `a result that is asked for again and again is held for a pause`() {
        let targets = targets()
        for _ in 0..<2 { #expect(targets.admitRequery(2, at: .zero) == .admitted) }
        let until = Duration.seconds(60)
        #expect(targets.admitRequery(2, at: .zero) == .stopped(until: until, isNew: true))
        #expect(targets.admitRequery(4, at: .zero) == .admitted, "each target for itself")
        #expect(targets.storm(of: 2, at: .zero) == until)
        targets.hold(2, .storm(until: until))
        #expect(targets.reason(of: 2) == .readStorm(.requery) && next(targets) == until)
        #expect(!targets.release(2, at: .seconds(59)) && targets.isHeld(2))
        #expect(targets.release(2, at: until) && targets.storm(of: 2, at: until) == nil)
    }

    @Test func `documents in limbo stop alone, and the target goes on`() {
        let targets = targets()
        for _ in 0..<3 { #expect(targets.admitLimbo(2, at: .zero) == .admitted) }
        let until = Duration.seconds(60)
        #expect(targets.admitLimbo(2, at: .zero) == .stopped(until: until, isNew: true))
        #expect(targets.admitLimbo(2, at: .zero) == .stopped(until: until, isNew: false))
        #expect(!targets.isHeld(2) && targets.reason(of: 2) == .readStorm(.limbo))
        #expect(next(targets) == until)
        #expect(targets.wakeLimbo(at: .seconds(59)).isEmpty)
        #expect(targets.wakeLimbo(at: until) == [2])
        #expect(targets.admitLimbo(2, at: until) == .admitted)
    }

    @Test func `leaving and coming back is no way around a storm`() {
        let targets = targets()
        for _ in 0..<3 { _ = targets.admitRequery(2, at: .zero) }
        targets.hold(2, .storm(until: .seconds(60)))
        targets.forget(2, at: .zero) { _ in false }
        #expect(!targets.isHeld(2) && targets.storm(of: 2, at: .zero) == .seconds(60))
        targets.forgetAll()
        #expect(targets.storm(of: 2, at: .zero) == nil)
    }

    @Test func `of targets that nobody listens to a thousand are remembered`() {
        let targets = targets()
        for id in Int32(0)...1_000 { _ = targets.admitRequery(id, at: .zero) }
        for _ in 0..<3 { _ = targets.admitRequery(7, at: .zero) }
        targets.forget(9, at: .zero) { $0 == 8 }
        // Target 8 has used one of its two requests and is in use. Target 6 is forgotten.
        #expect(targets.admitRequery(8, at: .zero) == .admitted)
        #expect(targets.admitRequery(8, at: .zero) != .admitted)
        for _ in 0..<2 { #expect(targets.admitRequery(6, at: .zero) == .admitted) }
        #expect(targets.storm(of: 7, at: .zero) != nil)
    }
}
