/// The places of an invented user, and the local time there.
struct GeneratedLife: Sendable {
    struct Place: Sendable {
        let zone: UInt16
        /// Minutes east of Greenwich.
        let offset: Int16
    }

    static let zones = [
        "", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu",
        "Pacific/Auckland",
    ]

    private let seed: UInt64

    init(seed: UInt64) { self.seed = seed }

    /// Returns the zone: home, except for a journey of 4 to 11 days in each 100. The journey begins
    /// at any hour of a day, so one day is longer or shorter than others.
    func zone(at time: Int64) -> UInt16 {
        let period = time.flooredDivision(by: 100 * 86_400)
        var dice = Dice(seed, 7, UInt64(bitPattern: period))
        let start =
            period * 100 * 86_400 + Int64(dice.roll(0...80)) * 86_400
            + Int64(dice.roll(0...23)) * 3_600
        let length = Int64(dice.roll(4...11)) * 86_400
        let zone = UInt16(dice.roll(2...(Self.zones.count - 1)))
        return time >= start && time < start + length ? zone : 1
    }

    /// Returns the place of every minute of a stretch.
    func places(from start: Int64, minutes: Int, _ rules: inout ZoneRules) -> [Place] {
        var places: [Place] = []
        places.reserveCapacity(minutes)
        var zone = zone(at: start)
        for minute in 0..<minutes {
            let time = start + Int64(minute) * 60
            // Journeys begin and end on the hour.
            if time % 3_600 == 0 { zone = self.zone(at: time) }
            let offset = rules.offset(of: zone, at: time) ?? 0
            places.append(Place(zone: zone, offset: offset))
        }
        return places
    }
}

/// A record to write.
struct GeneratedRecord {
    enum Value {
        /// A number in millionths, which is written with the given number of decimals.
        case number(Int64, decimals: Int)
        case text(StaticString)
    }

    let kind: HealthKind
    let source: GeneratedSource
    let start: Int64
    let end: Int64
    let startOffset: Int16
    let endOffset: Int16
    let value: Value
    let unit: StaticString?
    /// Written as metadata; 0 for none.
    var zone: UInt16 = 0
    var isEntered = false
}

/// The sources of records, from the most trusted to the least.
enum GeneratedSource: Int, CaseIterable {
    case watch, phone, app

    var name: StaticString {
        switch self {
        case .watch: "Kim\u{2019}s Apple\u{A0}Watch"
        case .phone: "Kim&apos;s iPhone"
        case .app: "Steps &amp; More"
        }
    }

    /// The text after the address.
    var device: StaticString? {
        switch self {
        case .watch:
            ", name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,1&gt;"
        case .phone:
            ", name:iPhone, manufacturer:Apple Inc., model:iPhone, hardware:iPhone14,2&gt;"
        case .app: nil
        }
    }
}
