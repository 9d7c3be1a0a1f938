/// The sizes of an upload's chunks. They grow while chunks are sent quickly, and start small again
/// after a failure, so an interruption loses little. Pure.
struct ChunkSizes: Hashable, Sendable {
    /// Storage stores whole multiples of this when a connection breaks. Each chunk except the last
    /// one ends at a multiple of it.
    static let granularity: Int64 = 256 << 10
    /// The maximum size. A chunk is held in memory.
    static let largest: Int64 = 8 << 20
    /// A chunk that took at most this long makes the next one larger.
    static let quick = Duration.seconds(2)
    /// A chunk that took longer than this makes the next one smaller, so an upload can yield soon.
    static let slow = Duration.seconds(8)

    private var size = Self.granularity
    private var began = Duration.zero

    /// Returns the length of the chunk at `offset`, which is sent now.
    mutating func next(from offset: Int64, size total: Int64, at elapsed: Duration) -> Int {
        precondition((0...total).contains(offset))
        began = elapsed
        let end = (offset + size) / Self.granularity * Self.granularity
        return Int(min(end, total) - offset)
    }

    /// Adapts the size to the time that the last chunk took.
    mutating func sent(at elapsed: Duration) {
        let took = elapsed - began
        if took <= Self.quick { size = min(2 * size, Self.largest) }
        if took > Self.slow { size = max(size / 2 / Self.granularity, 1) * Self.granularity }
    }

    mutating func shrink() { size = Self.granularity }
}
