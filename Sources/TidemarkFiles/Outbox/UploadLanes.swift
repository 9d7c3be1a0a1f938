/// Decides which uploads run: a few small files at a time, and one large file while no small one
/// moves. Pure.
///
/// A large upload yields to small ones, and continues where it was. Small files that only wait for
/// another attempt do not stop a large one. A file that the network excludes does not start, and
/// yields if it runs.
struct UploadLanes: Hashable, Sendable {
    struct Candidate: Hashable, Sendable {
        var id: Int64
        var size: Int64
        /// False if the present network breaks a rule of the file.
        var mayRun = true
    }

    struct Decision: Hashable, Sendable {
        var starts: [Int64] = []
        var yields: [Int64] = []
    }

    private struct Run: Hashable, Sendable {
        var isLarge: Bool
        var isPaused = false
    }

    private let smallBytes: Int64
    private let smallAtOnce: Int
    private var runs: [Int64: Run] = [:]

    init(smallBytes: Int64, smallAtOnce: Int) {
        self.smallBytes = smallBytes
        self.smallAtOnce = max(1, smallAtOnce)
    }

    var running: Set<Int64> { Set(runs.keys) }

    /// - Parameter candidates: All files that wait, oldest first.
    mutating func decide(_ candidates: [Candidate]) -> Decision {
        var decision = Decision()
        let excluded = Set(candidates.filter { !mayRun($0) }.map(\.id))
        let waiting = candidates.filter { runs[$0.id] == nil && !excluded.contains($0.id) }
        let room = smallAtOnce - runs.values.count { !$0.isLarge }
        for small in waiting.filter({ $0.size <= smallBytes }).prefix(max(0, room)) {
            runs[small.id] = Run(isLarge: false)
            decision.starts.append(small.id)
        }
        let isSmallMoving = runs.contains {
            !$0.value.isLarge && !$0.value.isPaused && !excluded.contains($0.key)
        }
        decision.yields = runs.keys.filter {
            excluded.contains($0) || isSmallMoving && runs[$0]?.isLarge == true
        }
        if !isSmallMoving, !runs.values.contains(where: \.isLarge),
            let large = waiting.first(where: { $0.size > smallBytes })
        {
            runs[large.id] = Run(isLarge: true)
            decision.starts.append(large.id)
        }
        return decision
    }

    private func mayRun(_ candidate: Candidate) -> Bool {
        #if TIDEMARK_DEFECTS
            if ignoresNetworks { return true }
        #endif
        return candidate.mayRun
    }

    #if TIDEMARK_DEFECTS
        /// A planted defect: sends every file on every network.
        var ignoresNetworks = false
    #endif

    /// Notes that a run waits for another attempt, or continues.
    mutating func pause(_ id: Int64, isPaused: Bool) { runs[id]?.isPaused = isPaused }

    mutating func end(_ id: Int64) { runs[id] = nil }
}
