public import Foundation
public import TidemarkHealth

/// An hour of the old app, in the form of its SwiftData model `SDProgressEntry`. A model actor
/// fetches the models and makes these values of them.
public struct ProgressEntry: Hashable, Sendable {
    /// The old app's name of the kind: `steps`, `heartRate`.
    public var type: String
    /// The start of the hour.
    public var date: Date
    public var quantity: Double
    /// The name of the source; nil in entries of the first versions.
    public var source: String?

    public init(type: String, date: Date, quantity: Double, source: String? = nil) {
        self.type = type
        self.date = date
        self.quantity = quantity
        self.source = source
    }
}

extension HealthApp {
    /// The old app's names of kinds that are not names of `HealthKind`.
    private static let oldKinds: [String: HealthKind] = [
        "stepCount": .steps, "restingHeartRate": .heartRate, "bodyMass": .weight,
    ]

    /// Stores the hours of the old app. They count until the hour is measured here. Another call
    /// with the same hours changes nothing.
    public func adopt(
        _ entries: [ProgressEntry]
    ) async throws(HealthExportError) -> HourlyRows.Report {
        try await HourlyRows(into: store, kinds: Self.oldKinds).run(
            entries.map {
                HourlyEntry(
                    kind: $0.type, start: $0.date, value: $0.quantity, source: $0.source)
            })
    }
}
