import Synchronization
import Testing
import TidemarkSimulation

/// Plays seeds without any planted defect, each once for all defects. A violation in a seed with a
/// defect is evidence only if the seed has no violation without the defect.
final class CleanSeeds: Sendable {
    typealias Play = @Sendable (_ seed: UInt64) throws -> WorldViolation?

    /// The seeds that a search for a defect plays at most. No defect has needed so many.
    private static let seeds = UInt64(0)..<1_000

    private let play: Play
    private let passed = Mutex<Set<UInt64>>([])

    /// - Parameter play: Plays a history without defects, with the same steps and depth.
    init(_ play: @escaping Play) { self.play = play }

    /// Plays seeds with a defect until `check` finds the defect. Each seed in which any check finds
    /// a violation is also played without the defect, and must then have no violation.
    ///
    /// Other checks may find the defect in earlier seeds, but `check` must find it too.
    ///
    /// - Parameter words: A part of the check's message about the defect.
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

/// Returns the violation that a history throws, or nil.
func violation(_ body: () throws -> Void) throws -> WorldViolation? {
    do { try body() } catch let violation as WorldViolation { return violation }
    return nil
}
