/// Chooses one of several overlapping samples at every moment: a sample that the user typed, else
/// the sample of the most trusted source, else the sample that began last.
///
/// A sum of the sources would count a walk once per device, and the largest of them would lose the
/// data that only the others saw. The cost is logarithmic in the number of concurrent samples.
struct IntervalMerge {
    /// The part of a sample that counts: its seconds in `from ..< to`.
    struct Piece {
        let sample: PackedSample
        let from: Int64
        let to: Int64

        /// The amount in millionths. The pieces of an uncovered sample add up to exactly its value.
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

    /// The rank of each source, by the number of the source.
    private let ranks: [UInt32]
    /// The samples that have begun and can still be running: a heap with the chosen sample on top.
    private var running: [PackedSample] = []
    private var reached = Int64.min

    init(ranks: [UInt32]) { self.ranks = ranks }

    /// - Parameter sample: A sample whose start is at or after the start of the previous one.
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
