/// The limits for samples that are read from HealthKit: two cores, a release build, nothing else
/// running. Source: issue 48.
extension Bar {
    /// HealthKit's own time is left out, because a script answers in its place.
    static let firstDays = Bar("7 days of HealthKit on the screen", below: 50, "ms")
}

enum HealthKitRatio {
    /// The maximum ratio of a page to plain SQLite, which writes the same rows into the same
    /// tables.
    static let page = 2.5
}
