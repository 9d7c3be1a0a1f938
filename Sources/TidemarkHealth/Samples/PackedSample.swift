/// A measurement in 40 bytes, so millions can be sorted in a few megabytes.
struct PackedSample: Hashable, Sendable {
    /// The sort key: kind, then start. See ``kind`` and ``start``.
    private(set) var key: UInt64
    /// The value in millionths of the kind's unit. It is an integer, so the order of a sum has no
    /// effect.
    let value: Int64
    /// The hash of the measurement: kind, source, start, end and value. It excludes the written
    /// offset, which is the offset of the phone at the time of the export.
    let identity: UInt64
    /// The duration in seconds.
    let duration: UInt32
    /// Number of a ``HealthSource``.
    var source: UInt16
    /// Number of a named time zone; 0 when the export does not say.
    var zone: UInt16
    /// The UTC offset in minutes east of Greenwich, as written.
    let startOffset: Int16
    let endOffset: Int16
    /// True if the user typed the value, which then counts more than any device.
    var isEntered: Bool

    /// The maximum duration. A longer sample is refused, so an hour never depends on samples that
    /// are further away.
    static let maxDuration: Int64 = 7 * 86_400
    /// The valid starts, from 1900 to 2200, which fit into 56 bits.
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
    /// The start in seconds since 1970.
    var start: Int64 { Int64(key & 0x00FF_FFFF_FFFF_FFFF) - Self.bias }
    /// The end, which is not a part of the sample. A sample without a duration counts as one
    /// second.
    var end: Int64 { start + Int64(max(duration, 1)) }

    /// Orders by kind, start and identity; of two equal measurements, the one to keep comes first.
    @inline(__always)
    static func isBefore(_ a: PackedSample, _ b: PackedSample) -> Bool {
        if a.key != b.key { return a.key < b.key }
        if a.identity != b.identity { return a.identity < b.identity }
        return a.isPreferred(to: b)
    }

    /// Decides between two records of a measurement: a record with a zone wins. Other rules make
    /// the result independent of the order in the file.
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
