/// One measurement, in 40 bytes, so that millions can be sorted in a few megabytes.
struct PackedSample: Hashable, Sendable {
    /// Kind, then start: what samples are sorted by. See ``kind`` and ``start``.
    private(set) var key: UInt64
    /// Millionths of the kind's unit: integers, so that the order of a sum changes nothing.
    let value: Int64
    /// Of what makes it the same measurement: kind, source, start, end and value. Not of the
    /// written offset, which is that of the phone when it exported.
    let identity: UInt64
    /// Seconds.
    let duration: UInt32
    /// Number of a ``HealthSource``.
    var source: UInt16
    /// Number of a named time zone; 0 when the export does not say.
    var zone: UInt16
    /// Minutes east of Greenwich, as written.
    let startOffset: Int16
    let endOffset: Int16
    /// A person typed it, which counts for more than any device.
    var isEntered: Bool

    /// A longer sample is refused, so that an hour never depends on what is further away than this.
    static let maxDuration: Int64 = 7 * 86_400
    /// Starts from 1900 to 2200: what is stored as 56 bits.
    static let starts: ClosedRange<Int64> = -2_208_988_800...7_258_118_400
    private static let bias: Int64 = 1 << 40

    init(
        kind: HealthKind, start: Int64, duration: UInt32, value: Int64, source: UInt16,
        sourceHash: UInt64, zone: UInt16 = 0, startOffset: Int16, endOffset: Int16,
        isEntered: Bool = false
    ) {
        precondition(Self.starts.contains(start) && duration <= Self.maxDuration)
        key = Self.key(kind, start)
        self.value = value
        self.duration = duration
        self.source = source
        self.zone = zone
        self.startOffset = startOffset
        self.endOffset = endOffset
        self.isEntered = isEntered
        var hash = Hash64(seed: key)
        hash.combine(sourceHash)
        hash.combine(UInt64(duration))
        hash.combine(UInt64(bitPattern: value))
        identity = hash.finished
    }

    static func key(_ kind: HealthKind, _ start: Int64) -> UInt64 {
        UInt64(kind.rawValue) << 56 | UInt64(start + bias)
    }

    var kind: HealthKind { HealthKind(rawValue: UInt8(key >> 56))! }
    var kindNumber: UInt8 { UInt8(key >> 56) }
    /// Seconds since 1970.
    var start: Int64 { Int64(key & 0x00FF_FFFF_FFFF_FFFF) - Self.bias }
    /// Not part of it. Something that took no time is taken to have lasted a second.
    var end: Int64 { start + Int64(max(duration, 1)) }

    /// By kind, start and identity; of two that are the same, the one to keep comes first.
    @inline(__always)
    static func isBefore(_ a: PackedSample, _ b: PackedSample) -> Bool {
        if a.key != b.key { return a.key < b.key }
        if a.identity != b.identity { return a.identity < b.identity }
        return a.isPreferred(to: b)
    }

    /// Of two writings of one measurement: with a zone before without, and else whatever does not
    /// depend on the order in which they stand in the file.
    @inline(__always)
    func isPreferred(to other: PackedSample) -> Bool {
        if (zone == 0) != (other.zone == 0) { return zone != 0 }
        if isEntered != other.isEntered { return isEntered }
        if startOffset != other.startOffset { return startOffset < other.startOffset }
        return endOffset < other.endOffset
    }

    func isSame(as other: PackedSample) -> Bool {
        key == other.key && identity == other.identity
    }
}
