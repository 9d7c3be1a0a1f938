/// The kind of a measurement. Raw values are stored and never reused.
public enum HealthKind: UInt8, CaseIterable, Codable, Sendable {
    case steps = 1
    case activeEnergy = 2
    case basalEnergy = 3
    case distance = 4
    case flights = 5
    case exercise = 6
    case heartRate = 7
    case restingHeartRate = 8
    case heartRateVariability = 9
    case oxygenSaturation = 10
    case respiratoryRate = 11
    case weight = 12
    case height = 13
    case sleep = 14
    case mood = 15

    /// The way in which the samples of a kind become one number.
    public enum Aggregation: Sendable {
        /// An amount that several devices measure at the same time: of overlapping samples, one
        /// source counts.
        case amount
        /// A reading at a time: every one counts, with smallest, largest and mean.
        case reading
    }

    public var aggregation: Aggregation {
        switch self {
        case .steps, .activeEnergy, .basalEnergy, .distance, .flights, .exercise, .sleep: .amount
        case .heartRate, .restingHeartRate, .heartRateVariability, .oxygenSaturation,
            .respiratoryRate, .weight, .height, .mood:
            .reading
        }
    }

    /// The unit of stored values.
    public var unit: String {
        switch self {
        case .steps, .flights: "count"
        case .activeEnergy, .basalEnergy: "kcal"
        case .distance, .height: "m"
        case .exercise: "min"
        case .heartRate, .restingHeartRate, .respiratoryRate: "count/min"
        case .heartRateVariability: "ms"
        case .oxygenSaturation: "%"
        case .weight: "kg"
        case .sleep: "s"
        case .mood: "valence"
        }
    }

    /// The name in documents and on the command line.
    public var name: String { String(describing: self) }

    public init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }

    /// True if values can be below zero. That is only the case for mood.
    var mayBeNegative: Bool { self == .mood }
}

extension HealthKind {
    /// The `type` attributes of an export's records.
    static let identifiers: [(String, HealthKind)] = [
        ("HKQuantityTypeIdentifierStepCount", .steps),
        ("HKQuantityTypeIdentifierActiveEnergyBurned", .activeEnergy),
        ("HKQuantityTypeIdentifierBasalEnergyBurned", .basalEnergy),
        ("HKQuantityTypeIdentifierDistanceWalkingRunning", .distance),
        ("HKQuantityTypeIdentifierFlightsClimbed", .flights),
        ("HKQuantityTypeIdentifierAppleExerciseTime", .exercise),
        ("HKQuantityTypeIdentifierHeartRate", .heartRate),
        ("HKQuantityTypeIdentifierRestingHeartRate", .restingHeartRate),
        ("HKQuantityTypeIdentifierHeartRateVariabilitySDNN", .heartRateVariability),
        ("HKQuantityTypeIdentifierOxygenSaturation", .oxygenSaturation),
        ("HKQuantityTypeIdentifierRespiratoryRate", .respiratoryRate),
        ("HKQuantityTypeIdentifierBodyMass", .weight),
        ("HKQuantityTypeIdentifierHeight", .height),
        ("HKCategoryTypeIdentifierSleepAnalysis", .sleep),
        ("HKDataTypeStateOfMind", .mood),
    ]

    /// HealthKit's name for it, as in `HKQuantityTypeIdentifierStepCount`.
    public var typeIdentifier: String { Self.identifiers.first { $0.1 == self }!.0 }

    /// - Parameter typeIdentifier: HealthKit's name; nil for a kind that is not kept.
    public init?(typeIdentifier: String) {
        guard let known = Self.identifiers.first(where: { $0.0 == typeIdentifier }) else {
            return nil
        }
        self = known.1
    }

    /// Returns the number of the kind's units in a written unit; nil for a unit that the kind does
    /// not use.
    func factor(unit: String) -> Double? {
        switch (self, unit) {
        case (.steps, "count"), (.flights, "count"): 1
        case (.activeEnergy, "kcal"), (.activeEnergy, "Cal"), (.basalEnergy, "kcal"),
            (.basalEnergy, "Cal"):
            1
        case (.activeEnergy, "kJ"), (.basalEnergy, "kJ"): 1 / 4.184
        case (.distance, "m"), (.height, "m"): 1
        case (.distance, "km"): 1_000
        case (.distance, "mi"): 1_609.344
        case (.distance, "ft"), (.height, "ft"): 0.3048
        case (.distance, "yd"): 0.9144
        case (.height, "cm"): 0.01
        case (.height, "in"): 0.0254
        case (.exercise, "min"): 1
        case (.exercise, "s"): 1 / 60.0
        case (.heartRate, "count/min"), (.restingHeartRate, "count/min"),
            (.respiratoryRate, "count/min"):
            1
        case (.heartRate, "count/s"), (.restingHeartRate, "count/s"),
            (.respiratoryRate, "count/s"):
            60
        case (.heartRateVariability, "ms"): 1
        case (.heartRateVariability, "s"): 1_000
        case (.oxygenSaturation, "%"): 1
        case (.weight, "kg"): 1
        case (.weight, "g"): 0.001
        case (.weight, "lb"): 0.45359237
        case (.weight, "st"): 6.35029318
        // A mood is written without a unit, or with any unit that the writer chose.
        case (.mood, _): 1
        default: nil
        }
    }
}
