public import Tidemark
public import TidemarkApp
public import TidemarkHealth

/// Sends the days of a `HealthStore` to Firestore, newest first, one document a day.
///
/// It is both the source and the sink of a `Backfill`, which runs until it is released:
///
/// ```swift
/// let days = firestore.collection("users/kim/days")
/// let history = try HealthHistory(store, to: days, now: { Timestamp(date: Date()) })
/// if let job = try history.job() {
///     let backfill = Backfill([.init(job, from: history, to: history)])
///     try await backfill.start()
///     for await state in await backfill.progress {
///         print(state.fraction)
///     }
/// }
/// ```
///
/// Documents go through the durable queue in batches; a day counts as sent when the server has
/// acknowledged it. A day that is sent again, after a kill or an import, is the same document.
/// Sending costs one write a day and no reads.
public struct HealthHistory: BackfillSource, BackfillSink {
    public typealias Items = [HealthDayRecord]

    private let health: HealthStore
    private let collection: CollectionReference
    private let record: BackfillRecord
    private let name: String
    private let daysPerPart: Int
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - store: The user's health data on this device.
    ///   - collection: The collection of this person's days.
    ///   - name: The name under which the cache remembers which days were sent.
    ///   - daysPerPart: Days in a batch and in memory, 1 to 100.
    ///   - now: Returns the current time.
    /// - Throws: `invalidArgument` when `daysPerPart` is out of range.
    public init(
        _ store: HealthStore, to collection: CollectionReference, name: String = "health",
        daysPerPart: Int = 30, now: @escaping @Sendable () -> Timestamp
    ) throws(FirestoreError) {
        guard (1...100).contains(daysPerPart) else {
            throw .invalidArgument("A part holds 1 to 100 days, not \(daysPerPart).")
        }
        health = store
        self.collection = collection
        self.name = name
        self.daysPerPart = daysPerPart
        self.now = now
        record = BackfillRecord(collection.firestore, name: name)
    }

    /// Returns a job for all days that have hours measured on this device; nil if there are none.
    /// Days that a ``HealthDownload`` received from the server are not sent again.
    ///
    /// - Parameter priority: Jobs with a higher priority run first.
    /// - Throws: `HealthExportError` when the store cannot be read.
    public func job(priority: Int = 0) throws(HealthExportError) -> BackfillJob? {
        guard let days = try health.read({ try $0.ownDays() }) else { return nil }
        return BackfillJob(
            name: name, from: Self.time(days.lowerBound.number),
            to: Self.time(days.upperBound.number + 1), priority: priority)
    }

    private static func time(_ day: Int64) -> Timestamp {
        Timestamp(seconds: day * 86_400, nanoseconds: 0)
    }

    public func fetch(
        _ range: Range<CoveragePosition>
    ) async throws(BackfillFailure) -> BackfillPart<[HealthDayRecord]> {
        // A day is stored at its midnight in UTC, and the edges of windows are at midnight too.
        let first = (range.lowerBound.time.seconds + 86_399).quotient(of: 86_400)
        let end = (range.upperBound.time.seconds + 86_399).quotient(of: 86_400)
        let start = max(first, end - Int64(daysPerPart))
        let asOf = now()
        guard start < end else {
            return BackfillPart([], reached: range.lowerBound, asOf: asOf, samples: 0)
        }
        let days = HealthDay(number: start)...HealthDay(number: end - 1)
        let hours: [HourEntry]
        do throws(HealthExportError) {
            hours = try health.read { snapshot in
                let own = try snapshot.ownDays(in: days)
                return try HealthKind.allCases.flatMap { kind in
                    try snapshot.entries(kind, days: days).filter { own.contains($0.day) }
                }
            }
        } catch {
            throw .transient(error.message)
        }
        let records = Dictionary(grouping: hours, by: \.day)
            .map { HealthDayRecord(day: $0.key, hours: $0.value) }
            .sorted { $0.day > $1.day }
        return BackfillPart(
            records, reached: start == first ? range.lowerBound : .start(of: Self.time(start)),
            asOf: asOf, samples: hours.count,
            // Some 60 bytes an hour of a kind.
            bytes: hours.count * 60)
    }

    /// Returns the days that were sent, without the days that an import has changed since. Those
    /// days are sent again.
    public func coverage() async throws(BackfillFailure) -> Coverage {
        var coverage = try await record.coverage()
        do throws(HealthExportError) {
            let changed = try health.changedDays()
            if changed.days.isEmpty { return coverage }
            for day in changed.days {
                coverage.remove(
                    .start(
                        of: Self.time(day.number))..<CoveragePosition.start(
                            of: Self.time(day.number + 1)))
            }
            // The order matters: after a kill between the two, the days are removed once more.
            try await save(coverage)
            try health.settle(changed)
            return coverage
        } catch {
            throw .transient(error.message)
        }
    }

    private func save(_ coverage: Coverage) async throws(HealthExportError) {
        do throws(BackfillFailure) { try await record.save(coverage) } catch {
            throw .storage(detail: error.message)
        }
    }

    /// Stores nothing, because the days are already in a store on this device.
    public func store(_ items: [HealthDayRecord]) async throws(BackfillFailure) {}

    public func upload(_ items: [HealthDayRecord]) async throws(BackfillFailure) -> Int {
        if items.isEmpty { return 0 }
        let batch = collection.firestore.batch()
        for item in items {
            var fields = item.fields
            fields["updatedAt"] = FieldValue.serverTimestamp()
            // tidemark:ignore batch-without-bound a window has far fewer than 500 days
            batch.setData(fields, forDocument: collection.document(item.documentID))
        }
        do throws(FirestoreError) {
            guard let receipt = try await batch.enqueue() else { return 0 }
            _ = try await receipt.acknowledged()
            return items.count
        } catch {
            throw BackfillFailure(error)
        }
    }

    public func cover(_ coverage: Coverage) async throws(BackfillFailure) {
        try await record.save(coverage)
    }
}

extension Int64 {
    /// Rounds down, also for negative values.
    fileprivate func quotient(of divisor: Int64) -> Int64 {
        self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor)
    }
}
