public import Foundation

/// An hour that an app has added up itself, in the form in which its own store holds it, for
/// example in a model of SwiftData.
///
/// ```swift
/// let entries = models.map {
///     HourlyEntry(kind: $0.type, start: $0.date, value: $0.quantity)
/// }
/// let report = try await HourlyRows(into: store).run(entries)
/// ```
public struct HourlyEntry: Hashable, Sendable {
    /// One of ``HealthKind/name``, of HealthKit's names, or of the app's own names.
    public var kind: String
    public var start: Date
    /// The end; nil for the end of the hour.
    public var end: Date?
    public var value: Double
    /// The unit of the value; nil for the kind's unit.
    public var unit: String?
    /// The name of the source; nil if the app kept none.
    public var source: String?

    public init(
        kind: String, start: Date, end: Date? = nil, value: Double, unit: String? = nil,
        source: String? = nil
    ) {
        self.kind = kind
        self.start = start
        self.end = end
        self.value = value
        self.unit = unit
        self.source = source
    }

    /// The fields, as a row of a file has them.
    var fields: RowFields {
        RowFields(
            kind: kind, start: Self.text(start), end: end.map(Self.text),
            value: String(format: "%.6f", value), unit: unit, source: source)
    }

    private static func text(_ date: Date) -> String {
        String(format: "%.0f", date.timeIntervalSince1970.rounded(.down))
    }
}

extension HourlyRows {
    /// Stores the hours of another store of the app, in one transaction. Running it again with the
    /// same hours changes nothing, so a killed run is repeated as a whole.
    ///
    /// - Parameter entries: The hours, in any order.
    /// - Returns: The counts. Bad entries are counted and listed with their place, from 1; the
    ///   others are stored.
    /// - Throws: ``HealthExportError``; then nothing was stored.
    @concurrent
    public func run(
        _ entries: some Sequence<HourlyEntry> & Sendable
    ) async throws(HealthExportError) -> Report {
        try stored { staging, reader in
            var place = 0
            for entry in entries {
                place += 1
                try staging.add(entry.fields, line: place, reader: reader)
            }
        }
    }
}
