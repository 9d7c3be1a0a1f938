import Synchronization
import Testing
import TidemarkSimulation

/// Seeds that were played without any planted defect, each once for all defects: what a check finds in
/// a seed with a defect is the defect's doing only where it finds nothing without.
final class CleanSeeds: Sendable {
    typealias Play = @Sendable (_ seed: UInt64) throws -> WorldViolation?

    /// More than any defect has needed.
    private static let seeds = UInt64(0)..<1_000

    private let play: Play
    private let passed = Mutex<Set<UInt64>>([])

    /// - Parameter play: A history without defects, of the same steps and depth.
    init(_ play: @escaping Play) { self.play = play }

    /// Plays seeds with a defect until the check finds it; each seed in which any check finds something is
    /// played without it too, and nothing may be found there.
    ///
    /// Other checks may find it in earlier seeds; the one that is named must find it too.
    ///
    /// - Parameter words: A part of what the check says when it finds the defect where it is looked for.
    func expect(
        _ name: String, to check: WorldCheck, saying words: String = "", _ planted: Play
    ) throws {
        var others: [WorldCheck: Int] = [:]
        for seed in Self.seeds {
            guard let violation = try planted(seed) else { continue }
            try expectNothing(seed)
            guard violation.check == check, words.isEmpty || violation.text.contains(words) else {
                others[violation.check, default: 0] += 1
                continue
            }
            let text = "planted: \(name) is found in seed \(seed) by \(violation)".prefix(300)
            print(others.isEmpty ? "\(text)" : "\(text); before by \(others)")
            return
        }
        Issue.record("\(check) finds \(name) in none of \(Self.seeds); others: \(others)")
    }

    private func expectNothing(_ seed: UInt64) throws {
        if passed.withLock({ $0.contains(seed) }) { return }
        if let violation = try play(seed) {
            Issue.record("without a defect, seed \(seed): \(violation)")
        }
        passed.withLock { _ = $0.insert(seed) }
    }
}

/// What a history throws, if anything.
func violation(_ body: () throws -> Void) throws -> WorldViolation? {
    do { try body() } catch let violation as WorldViolation { return violation }
    return nil
}
