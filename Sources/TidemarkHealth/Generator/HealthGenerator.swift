/// Creates exports of invented users, in the form that a phone writes, and states their contents.
///
/// The same days and seed give the same bytes everywhere. A day has about 350 kB: a watch, a phone
/// and an app that count the same steps, gaps, journeys to other time zones, the days on which
/// clocks change, late and repeated records, and the other elements of such files. The file is
/// written while it is created, in constant memory, except for the truth of a few bytes per day.
public struct HealthGenerator: Sendable {
    public let days: Int
    public let seed: UInt64
    /// The last day.
    public let end: HealthDay
    /// True if a few records are damaged.
    public let isDamaged: Bool
    /// True if an XML parser accepts the file: without the document type of iOS 16, whose end is
    /// missing, and without control characters.
    public let isValid: Bool

    /// - Parameters:
    ///   - days: The number of days; at least 1.
    ///   - seed: The same seed makes the same export.
    ///   - end: The last day. 90 days until the default include a change of clocks.
    ///   - isDamaged: True to damage a few records.
    ///   - isValid: True to write a file that an XML parser accepts.
    public init(
        days: Int, seed: UInt64, end: HealthDay = HealthDay("2026-05-10")!, isDamaged: Bool = false,
        isValid: Bool = false
    ) {
        precondition(days > 0)
        self.days = days
        self.seed = seed
        self.end = end
        self.isDamaged = isDamaged
        self.isValid = isValid
    }

    /// Makes the export.
    ///
    /// - Parameter write: Called with each part of the file, in order.
    /// - Returns: The contents of the file.
    public func generate(_ write: ([UInt8]) throws -> Void) rethrows -> HealthTruth {
        var page = ExportPage(isValid: isValid)
        var truth = HealthTruth()
        let life = GeneratedLife(seed: seed)
        var rules = ZoneRules(GeneratedLife.zones)
        page.addHeader()
        page.exportDate(end)
        for kind in GeneratedKind.all {
            var late: [GeneratedRecord] = []
            for number in 0..<Int64(days) {
                let day = end.number - Int64(days) + 1 + number
                var dice = Dice(seed, kind.stream, UInt64(bitPattern: day))
                let records = kind.records(
                    life, day: day, rules: &rules, dice: &dice, truth: &truth)
                for record in records {
                    if dice.one(in: 200) {
                        late.append(record)
                        truth.late += 1
                        continue
                    }
                    page.add(record, dice: &dice, truth: &truth)
                    if dice.one(in: 500) {
                        page.add(record, dice: &dice, truth: &truth)
                        truth.duplicates += 1
                    }
                    if isDamaged, dice.one(in: 2_000) {
                        page.addDamaged(record, dice: &dice, truth: &truth)
                    }
                }
                if day % 30 == 0 || number == Int64(days) - 1 {
                    for record in late { page.add(record, dice: &dice, truth: &truth) }
                    late = []
                }
                if page.isFull { truth.bytes += try page.flush(write) }
            }
        }
        var dice = Dice(seed, 99, 0)
        page.addOthers(days: days, end: end, &dice, &truth)
        page.add("</HealthData>\n")
        truth.bytes += try page.flush(write)
        return truth
    }
}

/// The contents of a generated export, computed minute by minute while it is created.
public struct HealthTruth: Hashable, Sendable {
    public struct Total: Hashable, Sendable {
        package var sumMillionths: Int64 = 0
        /// Readings; 0 for an amount.
        public internal(set) var count = 0
        package var minMillionths: Int64 = .max
        package var maxMillionths: Int64 = .min

        /// The sum in the kind's unit.
        public var sum: Double { Double(sumMillionths) / 1_000_000 }
        public var minimum: Double? { count > 0 ? Double(minMillionths) / 1_000_000 : nil }
        public var maximum: Double? { count > 0 ? Double(maxMillionths) / 1_000_000 : nil }
    }

    public internal(set) var totals: [HealthKind: [HealthDay: Total]] = [:]
    public internal(set) var bytes: Int64 = 0
    /// The number of written records; duplicates count twice.
    public internal(set) var records = 0
    public internal(set) var duplicates = 0
    public internal(set) var late = 0
    public internal(set) var ignored = 0
    public internal(set) var nested = 0
    public internal(set) var bad = 0

    mutating func add(amount: Int64, _ kind: HealthKind, _ day: HealthDay) {
        totals[kind, default: [:]][day, default: Total()].sumMillionths += amount
    }

    mutating func add(reading: Int64, _ kind: HealthKind, _ day: HealthDay) {
        var total = totals[kind, default: [:]][day] ?? Total()
        total.sumMillionths += reading
        total.count += 1
        total.minMillionths = min(total.minMillionths, reading)
        total.maxMillionths = max(total.maxMillionths, reading)
        totals[kind, default: [:]][day] = total
    }
}

/// Numbers that are the same for the same seed, everywhere.
struct Dice {
    private var state: UInt64

    init(_ parts: UInt64...) {
        var hash = Hash64(seed: 0)
        for part in parts { hash.combine(part) }
        state = hash.finished
    }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func roll(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    mutating func one(in count: Int) -> Bool { next() % UInt64(count) == 0 }
}
