public import Foundation

/// One measurement as HealthKit gives it, for ``HealthStore/insert(_:priority:)``.
///
/// What makes two of them the same measurement is kind, source, times (in whole seconds) and value, as in
/// an export: one that came by an import and comes again from HealthKit counts once.
public struct HealthSample: Hashable, Sendable, Identifiable {
    /// What was measured.
    public enum Value: Hashable, Sendable {
        /// A number in a unit as HealthKit writes it, as in `count/min`; a mood's is its valence.
        case quantity(Double, unit: String)
        /// The number of a category; of sleep, `HKCategoryValueSleepAnalysis`.
        case category(Int)
    }

    /// HealthKit's, which never means another sample.
    public let id: UUID
    public let kind: HealthKind
    public let value: Value
    public let start: Date
    /// At or after the start, and at most a week after it.
    public let end: Date
    public let source: HealthSource
    /// HealthKit's keys. Of use are `HKTimeZone`, where it was measured, and `HKWasUserEntered`, which is
    /// `1` when a person typed it.
    public let metadata: [String: String]
    /// Where it is taken to be measured when the metadata do not say it.
    public let timeZone: TimeZone

    /// - Parameters:
    ///   - id: HealthKit's.
    ///   - kind: See ``HealthKind/init(typeIdentifier:)``.
    ///   - value: A number with its unit, or a category.
    ///   - start: When it began.
    ///   - end: When it ended; nil for a reading at one time.
    ///   - source: Who measured.
    ///   - metadata: HealthKit's, as text.
    ///   - timeZone: Where the device is.
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
