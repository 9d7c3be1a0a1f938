/// Of samples that overlap, lets one count at every moment: the one a person typed, else that of
/// the most believed source, else the one that began last.
///
/// Neither the sum of the sources, which counts a walk once a device, nor the largest of them,
/// which loses what only the others saw. Costs a logarithm of how many overlap at once.
struct IntervalMerge {
    /// What counts of a sample: its seconds in `from ..< to`.
    struct Piece {
        let sample: PackedSample
        let from: Int64
        let to: Int64

        /// Millionths. The pieces of a sample that nothing covers add up to its value exactly.
        var amount: Int64 { share(until: to) - share(until: from) }

        private func share(until time: Int64) -> Int64 {
            let length = sample.end - sample.start
            let passed = time - sample.start
            if passed == 0 { return 0 }
            if passed == length { return sample.value }
            let product = sample.value.multipliedFullWidth(by: passed)
            return length.dividingFullWidth(product).quotient
        }
    }

    /// By source.
    private let ranks: [UInt32]
    /// What has begun and may not have ended: a heap, the one that counts on top.
    private var running: [PackedSample] = []
    private var reached = Int64.min

    init(ranks: [UInt32]) { self.ranks = ranks }

    /// - Parameter sample: In the order of their starts.
    @inline(__always)
    mutating func add(_ sample: PackedSample, _ emit: (Piece) -> Void) {
        advance(to: sample.start, emit)
        precondition(sample.start >= reached)
        reached = sample.start
        running.append(sample)
        rise()
    }

    mutating func finish(_ emit: (Piece) -> Void) {
        advance(to: .max, emit)
        running = []
        reached = .min
    }

    @inline(__always)
    private mutating func advance(to time: Int64, _ emit: (Piece) -> Void) {
        while let top = running.first {
            if top.end <= reached {
                pop()
                continue
            }
            let end = min(top.end, time)
            guard end > reached else { return }
            emit(Piece(sample: top, from: reached, to: end))
            reached = end
        }
    }

    private func counts(_ a: PackedSample, before b: PackedSample) -> Bool {
        if a.isEntered != b.isEntered { return a.isEntered }
        let (rankA, rankB) = (ranks[Int(a.source)], ranks[Int(b.source)])
        if rankA != rankB { return rankA < rankB }
        if a.start != b.start { return a.start > b.start }
        if a.end != b.end { return a.end < b.end }
        return a.identity < b.identity
    }

    private mutating func rise() {
        var place = running.count - 1
        while place > 0 {
            let parent = (place - 1) / 2
            guard counts(running[place], before: running[parent]) else { return }
            running.swapAt(place, parent)
            place = parent
        }
    }

    private mutating func pop() {
        let last = running.removeLast()
        if running.isEmpty { return }
        running[0] = last
        var place = 0
        while true {
            var child = place * 2 + 1
            guard child < running.count else { return }
            if child + 1 < running.count, counts(running[child + 1], before: running[child]) {
                child += 1
            }
            guard counts(running[child], before: running[place]) else { return }
            running.swapAt(place, child)
            place = child
        }
    }
}
