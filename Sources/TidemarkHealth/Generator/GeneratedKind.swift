/// The shape of a kind's records of a day.
struct GeneratedKind: Sendable {
    let kind: HealthKind
    let stream: UInt64
    /// Times are in minutes of a generated day, which runs from noon to noon UTC, so nights are
    /// whole.
    static let minutes = 1_440

    static let all: [GeneratedKind] = [
        .steps, .distance, .activeEnergy, .heartRate, .restingHeartRate, .weight, .height, .sleep,
        .mood,
    ].map { GeneratedKind(kind: $0, stream: UInt64($0.rawValue)) }

    func records(
        _ life: GeneratedLife, day: Int64, rules: inout ZoneRules, dice: inout Dice,
        truth: inout HealthTruth
    ) -> [GeneratedRecord] {
        // The day starts at the noon before, so the last day's records belong to the last day.
        let start = day * 86_400 - 43_200
        let stretch = Stretch(
            start: start, places: life.places(from: start, minutes: Self.minutes, &rules))
        switch kind {
        case .steps, .distance, .activeEnergy: return amounts(stretch, dice: &dice, truth: &truth)
        case .sleep: return sleep(stretch, dice: &dice, truth: &truth)
        default: return readings(stretch, dice: &dice, truth: &truth)
        }
    }
}

/// A generated day with the place of each of its minutes.
private struct Stretch {
    let start: Int64
    let places: [GeneratedLife.Place]

    func time(_ minute: Int) -> Int64 { start + Int64(minute) * 60 }
    func day(_ minute: Int) -> HealthDay {
        HealthDay(seconds: time(minute), offset: Int(places[minute].offset))
    }
    func hour(_ minute: Int) -> Int {
        let local = time(minute) + Int64(places[minute].offset) * 60
        return Int((local - local.flooredDivision(by: 86_400) * 86_400) / 3_600)
    }
    /// Returns the length until the zone changes at the latest, so a record has a single zone.
    func length(from minute: Int, atMost length: Int) -> Int {
        let end = min(minute + length, places.count)
        let zone = places[minute].zone
        return ((minute..<end).first { places[$0].zone != zone } ?? end) - minute
    }
    /// Returns the offset of the end of a record that ends here: the offset at the end of its last
    /// minute.
    func offset(_ minute: Int) -> Int16 { places[min(minute, places.count - 1)].offset }
}

extension GeneratedKind {
    private struct Scale {
        let unit: StaticString
        /// Millionths of the kind's unit that one of a rate is.
        let step: Int64
        /// Millionths of the written unit that one of a rate is.
        let written: Int64
        let decimals: Int
        let rates: ClosedRange<Int>
        let lengths: ClosedRange<Int>
    }

    private var scale: Scale {
        switch kind {
        case .distance:
            Scale(
                unit: "km", step: 100_000, written: 100, decimals: 4, rates: 0...700,
                lengths: 2...11)
        case .activeEnergy:
            Scale(
                unit: "kcal", step: 1_000, written: 1_000, decimals: 3, rates: 20...5_000,
                lengths: 1...6)
        default:
            Scale(
                unit: "count", step: 1_000_000, written: 1_000_000, decimals: 0, rates: 0...130,
                lengths: 1...10)
        }
    }

    /// Returns the records of three sources that measure at the same time, each with gaps. In each
    /// minute, one source counts.
    private func amounts(
        _ stretch: Stretch, dice: inout Dice, truth: inout HealthTruth
    ) -> [GeneratedRecord] {
        var records: [GeneratedRecord] = []
        // The user's own entry ranks before all sources.
        var rates = [[Int32]](
            repeating: [Int32](repeating: -1, count: Self.minutes),
            count: GeneratedSource.allCases.count + 1)
        for source in GeneratedSource.allCases {
            if source == .app, kind != .steps { continue }
            var minute = dice.roll(0...20)
            while minute < Self.minutes {
                let length = stretch.length(from: minute, atMost: dice.roll(scale.lengths))
                // At night the devices are not carried, and the watch is charged at seven in the
                // evening.
                let hour = stretch.hour(minute)
                let isWorn = hour >= 7 && (source != .watch || hour != 19)
                let isAway = source == .phone && dice.one(in: 2)
                if !isWorn || isAway {
                    minute += length + dice.roll(5...15)
                    continue
                }
                // Most of a day is spent sitting.
                let most = dice.one(in: 6) ? scale.rates.upperBound : scale.rates.upperBound / 12
                let rate = dice.roll(scale.rates.lowerBound...most)
                for place in minute..<(minute + length) {
                    rates[source.rawValue + 1][place] = Int32(rate)
                }
                records.append(
                    record(stretch, source: source, minute: minute, length: length, rate: rate))
                minute += length + (dice.one(in: 3) ? dice.roll(1...25) : 0)
            }
        }
        if kind == .steps, dice.one(in: 15) {
            let minute = dice.roll(0...1_300)
            let rate = dice.roll(50...120)
            let length = stretch.length(from: minute, atMost: 30)
            for place in minute..<(minute + length) { rates[0][place] = Int32(rate) }
            var entry = record(stretch, source: .phone, minute: minute, length: length, rate: rate)
            entry.isEntered = true
            records.append(entry)
        }
        for minute in 0..<Self.minutes {
            guard let rate = rates.lazy.map({ $0[minute] }).first(where: { $0 >= 0 }) else {
                continue
            }
            truth.add(amount: Int64(rate) * scale.step, kind, stretch.day(minute))
        }
        return records
    }

    private func record(
        _ stretch: Stretch, source: GeneratedSource, minute: Int, length: Int, rate: Int
    ) -> GeneratedRecord {
        let place = stretch.places[minute]
        return GeneratedRecord(
            kind: kind, source: source, start: stretch.time(minute),
            end: stretch.time(minute + length), startOffset: place.offset,
            endOffset: stretch.offset(minute + length),
            value: .number(Int64(rate * length) * scale.written, decimals: scale.decimals),
            unit: scale.unit,
            // An export that was made at home has the offsets of home: abroad, the metadata must
            // name the zone.
            zone: place.zone != 1 ? place.zone : 0)
    }

    /// The watch's stages of a night, and an app that calls the whole of it sleep.
    private func sleep(
        _ stretch: Stretch, dice: inout Dice, truth: inout HealthTruth
    ) -> [GeneratedRecord] {
        let bedtime = dice.roll(22...23)
        let rising = dice.roll(5...7)
        let asleep = (0..<Self.minutes).map { minute in
            let hour = stretch.hour(minute)
            return hour >= bedtime || hour < rising
        }
        // 1 asleep, 0 awake, -1 nothing known.
        var watch = [Int8](repeating: -1, count: Self.minutes)
        var app = watch
        var records: [GeneratedRecord] = []
        func add(_ source: GeneratedSource, range: Range<Int>, value: StaticString) {
            let place = stretch.places[range.lowerBound]
            records.append(
                GeneratedRecord(
                    kind: .sleep, source: source, start: stretch.time(range.lowerBound),
                    end: stretch.time(range.upperBound), startOffset: place.offset,
                    endOffset: stretch.offset(range.upperBound), value: .text(value), unit: nil,
                    zone: place.zone))
        }
        let usesWatch = !dice.one(in: 6)
        var minute = 0
        while minute < Self.minutes {
            guard asleep[minute] else {
                minute += 1
                continue
            }
            // A night ends where its zone ends, so each record has a single zone.
            let zone = stretch.places[minute].zone
            let end =
                (minute..<Self.minutes).first { !asleep[$0] || stretch.places[$0].zone != zone }
                ?? Self.minutes
            add(.phone, range: minute..<end, value: "HKCategoryValueSleepAnalysisInBed")
            if dice.one(in: 3) {
                add(
                    .app, range: minute..<end,
                    value: "HKCategoryValueSleepAnalysisAsleepUnspecified")
                for place in minute..<end { app[place] = 1 }
            }
            var stage = minute
            while usesWatch, stage < end {
                let next = min(end, stage + dice.roll(8...70))
                let isAwake = dice.one(in: 9)
                let names: [StaticString] = [
                    "HKCategoryValueSleepAnalysisAsleepCore",
                    "HKCategoryValueSleepAnalysisAsleepDeep",
                    "HKCategoryValueSleepAnalysisAsleepREM",
                ]
                add(
                    .watch, range: stage..<next,
                    value: isAwake ? "HKCategoryValueSleepAnalysisAwake" : names[dice.roll(0...2)])
                for place in stage..<next { watch[place] = isAwake ? 0 : 1 }
                stage = next + (dice.one(in: 20) ? 3 : 0)
            }
            minute = end
        }
        for minute in 0..<Self.minutes where watch[minute] >= 0 || app[minute] >= 0 {
            let isAsleep = (watch[minute] >= 0 ? watch[minute] : app[minute]) == 1
            truth.add(
                amount: isAsleep ? 60 * Decimal6.one : 0, .sleep, stretch.day(minute))
        }
        return records
    }

    private func readings(
        _ stretch: Stretch, dice: inout Dice, truth: inout HealthTruth
    ) -> [GeneratedRecord] {
        var records: [GeneratedRecord] = []
        func add(
            _ source: GeneratedSource, minute: Int, second: Int, written: Int64, value: Int64,
            decimals: Int, unit: StaticString?
        ) {
            let place = stretch.places[minute]
            let time = stretch.time(minute) + Int64(second)
            let isAnsweredByIndex = place.zone != 1
            records.append(
                GeneratedRecord(
                    kind: kind, source: source, start: time, end: time,
                    startOffset: place.offset, endOffset: place.offset,
                    value: .number(written, decimals: decimals), unit: unit,
                    zone: isAnsweredByIndex ? place.zone : 0))
            truth.add(reading: value, kind, stretch.day(minute))
        }
        let one = Decimal6.one
        switch kind {
        case .heartRate:
            var minute = dice.roll(0...5)
            while minute < Self.minutes {
                let isNight = stretch.hour(minute) < 7
                let rate = Int64(isNight ? dice.roll(45...65) : dice.roll(60...150)) * one
                add(
                    .watch, minute: minute, second: dice.roll(0...59), written: rate, value: rate,
                    decimals: 0, unit: "count/min")
                minute += dice.roll(3...7)
            }
        case .restingHeartRate:
            let rate = Int64(dice.roll(48...66)) * one
            add(
                .watch, minute: dice.roll(0...1_439), second: 0, written: rate, value: rate,
                decimals: 0, unit: "count/min")
        case .weight where !dice.one(in: 3):
            let grams = Int64(dice.roll(70_000...74_000))
            add(
                .app, minute: dice.roll(1_000...1_300), second: 0, written: grams * 1_000,
                value: grams * 1_000, decimals: 3, unit: "kg")
        case .height where dice.one(in: 100):
            let centimetres = Int64(dice.roll(178...181))
            add(
                .phone, minute: dice.roll(0...600), second: 0, written: centimetres * one,
                value: centimetres * 10_000, decimals: 0,
                unit: "cm")
        case .mood:
            for _ in 0..<dice.roll(0...2) {
                let valence = Int64(dice.roll(-100...100)) * 10_000
                add(
                    .phone, minute: dice.roll(0...1_439), second: dice.roll(0...59),
                    written: valence, value: valence, decimals: 2,
                    unit: nil)
            }
        default: break
        }
        return records
    }
}
