/// An hour of a kind. Days are sums of hours.
///
/// An hour is one of the local clock. In a zone with an offset of half an hour, entries begin at
/// the half hour of UTC. When the clock is set back, two entries have the same hour and different
/// offsets.
public struct HourEntry: Hashable, Sendable {
    public let kind: HealthKind
    /// The start of the hour, in seconds since 1970.
    public let start: Int64
    /// The UTC offset at the user's place, in minutes east of Greenwich.
    public let offset: Int
    /// The name of the time zone, when the export knew it.
    public internal(set) var zone: String?
    /// The sum in millionths, like all numbers here. The numbers are integers, so a repeated sum
    /// gives the same result.
    package internal(set) var sumMillionths: Int64
    /// The number of readings in the hour; 0 for an amount, which has no readings.
    public internal(set) var count: Int
    package internal(set) var minMillionths: Int64
    package internal(set) var maxMillionths: Int64
    package internal(set) var lastMillionths: Int64
    /// The time of the last reading, or the last second of the amount.
    public internal(set) var lastTime: Int64

    /// Creates an entry that was packed elsewhere.
    package init(
        kind: HealthKind, start: Int64, offset: Int, zone: String?, sumMillionths: Int64,
        count: Int, minMillionths: Int64, maxMillionths: Int64, lastMillionths: Int64,
        lastTime: Int64
    ) {
        self.kind = kind
        self.start = start
        self.offset = offset
        self.zone = zone
        self.sumMillionths = sumMillionths
        self.count = count
        self.minMillionths = minMillionths
        self.maxMillionths = maxMillionths
        self.lastMillionths = lastMillionths
        self.lastTime = lastTime
    }

    init(kind: HealthKind, start: Int64, offset: Int) {
        self.kind = kind
        self.start = start
        self.offset = offset
        sumMillionths = 0
        count = 0
        minMillionths = .max
        maxMillionths = .min
        lastMillionths = 0
        lastTime = .min
    }

    /// The local day of the hour, from midnight to midnight.
    public var day: HealthDay { HealthDay(seconds: start, offset: offset) }
    /// The hour on the wall clock, 0 to 23.
    public var hour: Int {
        Int((start + Int64(offset) * 60).flooredDivision(by: 3_600)) - Int(day.number) * 24
    }
    /// The sum in the kind's unit, like all values below.
    public var sum: Double { Double(sumMillionths) / 1_000_000 }
    /// The mean of the readings; nil for an amount.
    public var mean: Double? { count > 0 ? sum / Double(count) : nil }
    public var minimum: Double? { count > 0 ? Double(minMillionths) / 1_000_000 : nil }
    public var maximum: Double? { count > 0 ? Double(maxMillionths) / 1_000_000 : nil }
    public var last: Double? { count > 0 ? Double(lastMillionths) / 1_000_000 : nil }
    /// The amount, or the mean of the readings.
    public var value: Double { mean ?? sum }

    mutating func add(amount: Int64, until time: Int64) {
        sumMillionths = Self.sum(sumMillionths, amount)
        lastTime = max(lastTime, time)
    }

    mutating func add(reading: Int64, at time: Int64) {
        sumMillionths = Self.sum(sumMillionths, reading)
        count += 1
        minMillionths = min(minMillionths, reading)
        maxMillionths = max(maxMillionths, reading)
        // At the same second, the larger reading counts, so the order in the file has no effect.
        if time > lastTime || (time == lastTime && reading > lastMillionths) {
            lastTime = time
            lastMillionths = reading
        }
    }

    /// Adds with saturation at the limits of Int64, which no measurement can reach.
    static func sum(_ a: Int64, _ b: Int64) -> Int64 {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return overflow ? (a > 0 ? .max : .min) : sum
    }
}

/// Makes the entries of one kind from its samples, in the order of their starts.
struct EntryBuilder {
    private let kind: HealthKind
    private let zoneNames: [String]
    private var zones: ZoneRules
    private var merge: IntervalMerge
    /// The hours that can still receive data: one, or a few if the clock was changed.
    private var open: [HourEntry] = []
    private var done: [HourEntry] = []

    init(kind: HealthKind, ranks: [UInt32], zones: [String]) {
        self.kind = kind
        zoneNames = zones
        self.zones = ZoneRules(zones)
        merge = IntervalMerge(ranks: ranks)
    }

    /// - Returns: The complete entries, oldest first.
    mutating func add(_ sample: PackedSample) -> [HourEntry] {
        precondition(sample.kind == kind)
        switch kind.aggregation {
        case .reading: add(reading: sample)
        case .amount:
            // A copy, because the merge calls back.
            var merge = merge
            self.merge = IntervalMerge(ranks: [])
            merge.add(sample) { add($0) }
            self.merge = merge
        }
        return take(before: sample.start)
    }

    mutating func finish() -> [HourEntry] {
        var merge = merge
        self.merge = IntervalMerge(ranks: [])
        merge.finish { add($0) }
        return take(before: .max)
    }

    private mutating func add(reading sample: PackedSample) {
        let offset = zones.offset(of: sample.zone, at: sample.start) ?? sample.startOffset
        let index = hour(of: sample.start, offset: offset, zone: sample.zone)
        open[index].add(reading: sample.value, at: sample.start)
    }

    private mutating func add(_ piece: IntervalMerge.Piece) {
        var from = piece.from
        while from < piece.to {
            let offset = offset(of: piece.sample, at: from)
            let index = hour(of: from, offset: offset, zone: piece.sample.zone)
            let to = min(piece.to, open[index].start + 3_600)
            let part = IntervalMerge.Piece(sample: piece.sample, from: from, to: to)
            open[index].add(amount: part.amount, until: to)
            from = to
        }
    }

    /// Returns the UTC offset of a sample at a moment. Without a zone, two offsets are known: the
    /// first offset holds for the sample's first hour, because clocks change on the hour, and then
    /// the second.
    private mutating func offset(of sample: PackedSample, at time: Int64) -> Int16 {
        if let offset = zones.offset(of: sample.zone, at: time) { return offset }
        if sample.startOffset == sample.endOffset { return sample.startOffset }
        let local = sample.start + Int64(sample.startOffset) * 60
        let firstHourEnd = sample.start + 3_600 - (local - local.flooredDivision(by: 3_600) * 3_600)
        return time < firstHourEnd ? sample.startOffset : sample.endOffset
    }

    private mutating func hour(of time: Int64, offset: Int16, zone: UInt16) -> Int {
        let east = Int64(offset) * 60
        let start = (time + east).flooredDivision(by: 3_600) * 3_600 - east
        var index = open.endIndex - 1
        while index >= 0, open[index].start != start || open[index].offset != Int(offset) {
            index -= 1
        }
        if index < 0 {
            open.append(HourEntry(kind: kind, start: start, offset: Int(offset)))
            index = open.endIndex - 1
        }
        if zone > 0, open[index].zone == nil { open[index].zone = zoneNames[Int(zone)] }
        return index
    }

    /// Removes and returns the entries that end by the time. Later pieces begin at or after that
    /// time.
    private mutating func take(before time: Int64) -> [HourEntry] {
        guard open.contains(where: { $0.start + 3_600 <= time || time == .max }) else { return [] }
        done.removeAll(keepingCapacity: true)
        var rest: [HourEntry] = []
        for entry in open {
            if time == .max || entry.start + 3_600 <= time {
                done.append(entry)
            } else {
                rest.append(entry)
            }
        }
        open = rest
        return done.sorted { ($0.start, $0.offset) < ($1.start, $1.offset) }
    }
}
