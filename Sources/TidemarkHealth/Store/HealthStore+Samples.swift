public import Foundation
import GRDB

extension HealthStore {
    /// Stores samples as HealthKit gives them, and makes the hours anew that they touch, as an import does.
    ///
    /// In any order, again, or when an import has brought the same measurement: nothing counts twice, and
    /// what was deleted before it came stays away. A bad sample is left out and listed. One transaction.
    ///
    /// - Parameters:
    ///   - samples: Some thousands at most: they are in memory, and writers wait for one another.
    ///   - priority: The same for all that this store is given.
    /// - Throws: ``HealthExportError/storage(detail:)``, and nothing was stored. A task that is cancelled
    ///   stores its samples nevertheless.
    @discardableResult
    public func insert(
        _ samples: [HealthSample], priority: SourcePriority = SourcePriority()
    ) async throws(HealthExportError) -> HealthStoreReport {
        try apply(priority) { try $0.insert(samples) }
    }

    /// Takes samples away that were deleted where they came from, now and for good.
    ///
    /// Ids that are not known are remembered: such a sample may still come. A measurement that another
    /// sample has brought too stays. One transaction.
    ///
    /// - Parameters:
    ///   - ids: HealthKit's.
    ///   - priority: The same for all that this store is given.
    /// - Throws: ``HealthExportError/storage(detail:)``, and nothing was taken away.
    @discardableResult
    public func delete(
        ids: Set<UUID>, priority: SourcePriority = SourcePriority()
    ) async throws(HealthExportError) -> HealthStoreReport {
        try apply(priority) { try $0.delete(ids) }
    }

    /// A page with its anchor, in one transaction.
    func take(
        _ page: HealthSamplePage, of kind: HealthKind, priority: SourcePriority
    ) async throws(HealthExportError) -> HealthStoreReport {
        try apply(priority) { merge in
            try merge.insert(page.samples)
            try merge.delete(page.deleted)
            try merge.save(page.anchor, of: kind)
        }
    }

    /// Where the source's next page of a kind begins; nil before the first one.
    func anchor(of kind: HealthKind) throws(HealthExportError) -> HealthAnchor? {
        try read { snapshot in
            try Data.fetchOne(
                snapshot.db, sql: "SELECT data FROM anchor WHERE kind = ?",
                arguments: [kind.rawValue]
            ).map(HealthAnchor.init)
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

    /// Keeps hours that another device of the person measured, so that what is read here is full.
    ///
    /// Where this device has measured an hour itself, or brought it from an older store, its own counts.
    /// What was received goes as soon as the hour is measured here. One transaction.
    ///
    /// - Parameters:
    ///   - hours: All hours of these days, as the other device read them.
    ///   - days: What was received before for these days is replaced.
    /// - Returns: What is another now; empty when all of it was known.
    /// - Throws: ``HealthExportError/storage(detail:)``, and nothing was kept.
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
        _ hours: [HourEntry], of days: Set<HealthDay>, in db: Database
    ) throws -> HealthChange {
        guard let first = days.min(), let last = days.max() else { return HealthChange() }
        let before = try entries(first...last, in: db)
        for day in days {
            for kind in HealthKind.allCases {
                try db.cachedStatement(
                    sql: "DELETE FROM hour WHERE kind = ? AND day = ? AND origin = 1"
                ).execute(arguments: [kind.rawValue, day.number])
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
        _ days: ClosedRange<HealthDay>, in db: Database
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
