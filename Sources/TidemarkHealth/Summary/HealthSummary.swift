import Foundation

/// The eight values of a summary screen. Values from the same read belong to the same moment.
public struct HealthSummary: Hashable, Sendable {
    /// A value of the summary.
    public enum Item: CaseIterable, Sendable {
        case stepsToday, body, lastWeights, mood, heartRate, heartRateHours, stepsHours, sleep

        /// The kinds that the value shows. The value is read again when one of these kinds changes.
        public var kinds: Set<HealthKind> {
            switch self {
            case .stepsToday, .stepsHours: [.steps]
            case .body: [.weight, .height]
            case .lastWeights: [.weight]
            case .mood: [.mood]
            case .heartRate, .heartRateHours: [.heartRate]
            case .sleep: [.sleep]
            }
        }

        static func showing(_ kinds: Set<HealthKind>) -> Set<Item> {
            Set(allCases.filter { !$0.kinds.isDisjoint(with: kinds) })
        }
    }

    /// The state that a view draws: a skeleton, a value, or a value with a note.
    public enum Phase: Hashable, Sendable {
        /// The value was not read yet.
        case loading
        /// A kind of the value has changed since the last read.
        case stale
        case fresh
        /// The read failed, with a sentence. The value is from the last successful read.
        case failed(String)
    }

    /// A value and its time.
    public struct Reading: Hashable, Sendable {
        public let value: Double
        /// The time in seconds since 1970.
        public let time: Int64
        /// The UTC offset of the reading, in minutes east of Greenwich.
        public let offset: Int
    }

    public struct Sleep: Hashable, Sendable {
        /// The seconds asleep, from the hours of one night.
        public let asleep: Double
        /// The first and the last of its hours, in seconds since 1970.
        public let from: Int64
        public let to: Int64
    }

    public internal(set) var phases: [Item: Phase] = Dictionary(
        uniqueKeysWithValues: Item.allCases.map { ($0, .loading) })

    /// The steps of the local day.
    public internal(set) var stepsToday: Double?
    /// The weight in kilograms.
    public internal(set) var weight: Reading?
    /// The height in metres.
    public internal(set) var height: Reading?
    /// The last weights, newest first, at most one per hour.
    public internal(set) var lastWeights: [Reading] = []
    /// The mood, from -1, very unpleasant, to 1.
    public internal(set) var mood: Reading?
    public internal(set) var heartRate: Reading?
    /// Oldest first; hours without a reading are left out.
    public internal(set) var heartRateHours: [HourEntry] = []
    public internal(set) var stepsHours: [HourEntry] = []
    /// The latest night.
    public internal(set) var sleep: Sleep?

    public init() {}

    public func phase(_ item: Item) -> Phase { phases[item] ?? .loading }
}

/// The time and place of a summary, where "today" and "the last eight hours" end.
public struct HealthMoment: Hashable, Sendable {
    /// The time in seconds since 1970.
    public var seconds: Int64
    /// Minutes east of Greenwich at the user's place.
    public var offset: Int

    public init(seconds: Int64, offset: Int) {
        self.seconds = seconds
        self.offset = offset
    }

    /// The moment by the device's clock, in its time zone.
    public static var now: HealthMoment {
        let date = Date()
        return HealthMoment(
            seconds: Int64(date.timeIntervalSince1970.rounded(.down)),
            offset: TimeZone.current.secondsFromGMT(for: date) / 60)
    }

    public var day: HealthDay { HealthDay(seconds: seconds, offset: offset) }

    /// The time until the next hour of the wall clock, from 1 s to an hour.
    var untilNextHour: Duration {
        let local = seconds + Int64(offset) * 60
        return .seconds(3_600 - (local - local.flooredDivision(by: 3_600) * 3_600))
    }
}

extension HealthSnapshot {
    /// Reads some of the values. A read of all eight takes about 60 rows.
    public func read(
        _ items: Set<HealthSummary.Item>, of summary: inout HealthSummary, at moment: HealthMoment
    ) throws {
        for item in HealthSummary.Item.allCases where items.contains(item) {
            try read(item, of: &summary, at: moment)
            summary.phases[item] = .fresh
        }
    }

    private func read(
        _ item: HealthSummary.Item, of summary: inout HealthSummary, at moment: HealthMoment
    ) throws {
        switch item {
        case .stepsToday:
            let day = moment.day
            summary.stepsToday = try totals(.steps, days: day...day).first?.sum ?? 0
        case .body:
            summary.weight = try readings(.weight, limit: 1).first
            summary.height = try readings(.height, limit: 1).first
        case .lastWeights: summary.lastWeights = try readings(.weight, limit: 5)
        case .mood: summary.mood = try readings(.mood, limit: 1).first
        case .heartRate: summary.heartRate = try readings(.heartRate, limit: 1).first
        case .heartRateHours: summary.heartRateHours = try hours(.heartRate, moment)
        case .stepsHours: summary.stepsHours = try hours(.steps, moment)
        case .sleep: summary.sleep = try latestSleep()
        }
    }

    private func readings(_ kind: HealthKind, limit: Int) throws -> [HealthSummary.Reading] {
        try latest(kind, limit: limit).compactMap { entry in
            entry.last.map {
                HealthSummary.Reading(value: $0, time: entry.lastTime, offset: entry.offset)
            }
        }
    }

    /// The current hour and the seven hours before it.
    private func hours(_ kind: HealthKind, _ moment: HealthMoment) throws -> [HourEntry] {
        let east = Int64(moment.offset) * 60
        let running = (moment.seconds + east).flooredDivision(by: 3_600) * 3_600 - east
        let found = try latest(kind, limit: 8, since: running - 7 * 3_600)
        return found.filter { $0.start <= moment.seconds }.reversed()
    }

    /// Back from the last hour with sleep in it, until three hours without.
    private func latestSleep() throws -> HealthSummary.Sleep? {
        var night: HealthSummary.Sleep?
        for entry in try latest(.sleep, limit: 24) where entry.sumMillionths > 0 {
            guard let known = night else {
                night = HealthSummary.Sleep(
                    asleep: entry.sum, from: entry.start, to: entry.start + 3_600)
                continue
            }
            guard known.from - (entry.start + 3_600) < 3 * 3_600 else { break }
            night = HealthSummary.Sleep(
                asleep: known.asleep + entry.sum, from: min(known.from, entry.start), to: known.to)
        }
        return night
    }
}
