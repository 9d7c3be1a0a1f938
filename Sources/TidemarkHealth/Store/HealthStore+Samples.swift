public import Foundation
import TidemarkStore

extension HealthStore {
    /// Stores samples in HealthKit's form, and computes their hours again, like an import.
    ///
    /// Samples can come in any order and repeatedly, also after an import of the same measurement:
    /// no measurement counts twice, and a sample that was deleted before it arrived is not stored.
    /// A bad sample is left out and listed. One transaction.
    ///
    /// - Parameters:
    ///   - samples: At most some thousand samples, because they are in memory, and writers wait for
    ///     one another.
    ///   - priority: The same for all that this store is given.
    /// - Throws: ``HealthExportError/storage(detail:)``, and nothing was stored. A cancelled task
    ///   still stores its samples.
    @discardableResult
    public func insert(
        _ samples: [HealthSample], priority: SourcePriority = SourcePriority()
    ) async throws(HealthExportError) -> HealthStoreReport {
        try apply(priority) { try $0.insert(samples) }
    }

    /// Removes samples that their source has deleted, permanently.
    ///
    /// Unknown ids are stored, because such a sample can still arrive. A measurement that another
    /// sample contains too stays. One transaction.
    ///
    /// - Parameters:
    ///   - ids: HealthKit's ids.
    ///   - priority: The same for all that this store is given.
    /// - Throws: ``HealthExportError/storage(detail:)``; then nothing was removed.
    @discardableResult
    public func delete(
        ids: Set<UUID>, priority: SourcePriority = SourcePriority()
    ) async throws(HealthExportError) -> HealthStoreReport {
        try apply(priority) { try $0.delete(ids) }
    }

    /// Stores a page with its anchor, in one transaction.
    func take(
        _ page: HealthSamplePage, of kind: HealthKind, priority: SourcePriority
    ) async throws(HealthExportError) -> HealthStoreReport {
        try apply(priority) { merge in
            try merge.insert(page.samples)
            try merge.delete(page.deleted)
            try merge.save(page.anchor, of: kind)
        }
    }

    /// Returns the position of the source's next page of a kind; nil before the first page.
    func anchor(of kind: HealthKind) throws(HealthExportError) -> HealthAnchor? {
        try read { snapshot in
            try snapshot.db.row(
                "SELECT data FROM anchor WHERE kind = ?", [Int64(kind.rawValue)]
            ) { HealthAnchor(Data($0.blob(0))) }
        }
    }

    private func apply(
        _ priority: SourcePriority, _ body: (inout SampleMerge) throws -> Void
    ) throws(HealthExportError) -> HealthStoreReport {
        let report = try write { db in
            var merge = try SampleMerge(db, priority: priority)
            try body(&merge)
            return merge.report
        }
        HealthMetrics.count(report)
        announce(report.change)
        return report
    }

    // MARK: - Hours from elsewhere

    /// Stores hours that another device of the user measured, so reads on this device are complete.
    ///
    /// If this device has measured an hour itself, or took it from an older store, its own hour
    /// counts. A received hour is removed when the hour is measured here. One transaction.
    ///
    /// - Parameters:
    ///   - hours: All hours of these days, as the other device read them.
    ///   - days: The days whose received hours are replaced.
    /// - Returns: The changes; empty if all hours were known.
    /// - Throws: ``HealthExportError/storage(detail:)``; then nothing was stored.
    @discardableResult
    public func receive(
        _ hours: [HourEntry], of days: Set<HealthDay>
    ) async throws(HealthExportError) -> HealthChange {
        let change = try write { db in try Self.replace(hours, of: days, in: db) }
        HealthMetrics.received(days.count)
        announce(change)
        return change
    }

    private static func replace(
        _ hours: [HourEntry], of days: Set<HealthDay>, in db: HealthConnection
    ) throws -> HealthChange {
        guard let first = days.min(), let last = days.max() else { return HealthChange() }
        let before = try entries(first...last, in: db)
        for day in days {
            for kind in HealthKind.allCases {
                try db.execute(
                    "DELETE FROM hour WHERE kind = ? AND day = ? AND origin = 1",
                    [Int64(kind.rawValue), day.number])
            }
        }
        var names = try NameTables(db)
        let known = names.zones.count
        for hour in hours where days.contains(hour.day) {
            let zone = hour.zone.map { names.zone(named: $0) } ?? 0
            try OtherHours.put(hour, .received, zone: Int64(zone), in: db)
        }
        if names.zones.count > known { try names.save(db) }
        return difference(before, try entries(first...last, in: db))
    }

    static func entries(
        _ days: ClosedRange<HealthDay>, in db: HealthConnection
    ) throws -> [HealthKind: [HourEntry]] {
        let snapshot = HealthSnapshot(db: db)
        return Dictionary(
            uniqueKeysWithValues: try HealthKind.allCases.map {
                ($0, try snapshot.entries($0, days: days))
            })
    }

    static func difference(
        _ before: [HealthKind: [HourEntry]], _ after: [HealthKind: [HourEntry]]
    ) -> HealthChange {
        var change = HealthChange()
        for kind in HealthKind.allCases where before[kind] != after[kind] {
            let different = Set(before[kind] ?? []).symmetricDifference(after[kind] ?? [])
            change.add(kind, Set(different.map(\.day)))
        }
        return change
    }
}
