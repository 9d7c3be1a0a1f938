public import Foundation

/// A measurement in HealthKit's form, for ``HealthStore/insert(_:priority:)``.
///
/// Two samples are the same measurement if kind, source, times (in whole seconds) and value are
/// equal, as in an export: a measurement that an import brought and that arrives again from
/// HealthKit counts once.
public struct HealthSample: Hashable, Sendable, Identifiable {
    /// The measured value.
    public enum Value: Hashable, Sendable {
        /// A number in HealthKit's unit, such as `count/min`; for a mood, the number is its
        /// valence.
        case quantity(Double, unit: String)
        /// The number of a category; of sleep, `HKCategoryValueSleepAnalysis`.
        case category(Int)
    }

    /// HealthKit's id, which is never reused for another sample.
    public let id: UUID
    public let kind: HealthKind
    public let value: Value
    public let start: Date
    /// The end, which is at or after the start, and at most a week after it.
    public let end: Date
    public let source: HealthSource
    /// The metadata by HealthKit's keys. The import uses `HKTimeZone`, the zone of the measurement,
    /// and `HKWasUserEntered`, which is `1` if the user typed the value.
    public let metadata: [String: String]
    /// The time zone of the measurement if the metadata do not state it.
    public let timeZone: TimeZone

    /// - Parameters:
    ///   - id: HealthKit's id.
    ///   - kind: See ``HealthKind/init(typeIdentifier:)``.
    ///   - value: A number with its unit, or a category.
    ///   - start: The start of the measurement.
    ///   - end: The end of the measurement; nil for a reading at a single time.
    ///   - source: The source that measured.
    ///   - metadata: HealthKit's metadata, as text.
    ///   - timeZone: The time zone of the device.
    public init(
        id: UUID, kind: HealthKind, value: Value, start: Date, end: Date? = nil,
        source: HealthSource, metadata: [String: String] = [:], timeZone: TimeZone = .current
    ) {
        self.id = id
        self.kind = kind
        self.value = value
        self.start = start
        self.end = end ?? start
        self.source = source
        self.metadata = metadata
        self.timeZone = timeZone
    }
}
