public import Foundation

/// Stores the samples of a source in a ``HealthStore``: first the samples for a screen, then all
/// others, then new samples.
///
/// ```swift
/// let intake = HealthIntake(from: source, into: store)
/// try await intake.firstDays(until: now)
/// try await intake.catchUp()
/// try await intake.follow()
/// ```
///
/// Each page is stored with its anchor in one transaction. After a kill or a failure at any point,
/// the next call continues behind the last stored page. Use a single intake at a time for a store.
public struct HealthIntake: Sendable {
    private let source: any HealthSampleSource
    private let store: HealthStore
    private let kinds: [HealthKind]
    private let priority: SourcePriority
    private let pageSize: Int

    /// The maximum number of samples in the first read of a kind: a week of a watch has about
    /// 20,000 samples of its busiest kind.
    private static let mostOfFirstDays = 50_000

    /// - Parameters:
    ///   - source: The source of the samples.
    ///   - store: The store that receives the samples.
    ///   - kinds: The kinds of samples, which are the kinds for which the user is asked.
    ///   - priority: The order of trusted sources, which must be the same for all calls of a store.
    ///   - pageSize: Samples and deletions in one transaction, 1 to 10,000.
    public init(
        from source: some HealthSampleSource, into store: HealthStore,
        kinds: Set<HealthKind> = Set(HealthKind.allCases),
        priority: SourcePriority = SourcePriority(), pageSize: Int = 1_000
    ) {
        precondition((1...10_000).contains(pageSize), "a page of \(pageSize)")
        self.source = source
        self.store = store
        self.kinds = kinds.sorted { $0.rawValue < $1.rawValue }
        self.priority = priority
        self.pageSize = pageSize
    }

    /// Stores the newest days of all kinds, for the screen to show before anything older is read.
    ///
    /// Does nothing for kinds of which pages were stored before. ``catchUp()`` reads these samples
    /// again, without harm.
    ///
    /// - Parameters:
    ///   - count: Days, 1 to 31.
    ///   - now: The end of the days.
    /// - Returns: The stored samples, as counts.
    /// - Throws: ``HealthIntakeError`` or `CancellationError`; samples that were stored before
    ///   stay.
    @discardableResult
    public func firstDays(
        _ count: Int = 7, until now: Date
    ) async throws -> HealthStoreReport {
        precondition((1...31).contains(count), "\(count) days")
        var report = HealthStoreReport()
        let range = now.addingTimeInterval(-86_400 * Double(count))..<now
        for kind in kinds {
            try Task.checkCancellation()
            if try anchor(kind) != nil { continue }
            let samples = try await asking { () async throws(HealthSourceError) in
                try await source.samples(kind, in: range, limit: Self.mostOfFirstDays)
            }
            let stored = try await storing { () async throws(HealthExportError) in
                try await store.insert(samples, priority: priority)
            }
            report.add(stored)
        }
        return report
    }

    /// Reads the next pages of all kinds, until nothing follows.
    ///
    /// - Returns: The stored samples, as counts.
    /// - Throws: ``HealthIntakeError`` or `CancellationError`; earlier pages stay stored.
    @discardableResult
    public func catchUp() async throws -> HealthStoreReport {
        var report = HealthStoreReport()
        for kind in kinds { report.add(try await catchUp(kind)) }
        return report
    }

    /// Reads the next pages each time the source has new samples, until the task is cancelled. The
    /// source learns that the app is done after the samples are stored, never before.
    ///
    /// - Throws: ``HealthIntakeError``: call this function again later. Samples that arrive in the
    ///   meantime are not lost, and HealthKit announces them again.
    public func follow() async throws {
        let updates = source.updates()
        // Stores the samples that were recorded before the source's updates began.
        try await catchUp()
        for await update in updates {
            if kinds.contains(update.kind) { _ = try await catchUp(update.kind) }
            update.stored()
        }
    }

    private func catchUp(_ kind: HealthKind) async throws -> HealthStoreReport {
        var report = HealthStoreReport()
        var isLast = false
        while !isLast {
            try Task.checkCancellation()
            let before = try anchor(kind)
            let page = try await asking { () async throws(HealthSourceError) in
                try await source.page(kind, after: before, limit: pageSize)
            }
            // The check prevents that the same page is requested forever.
            if !page.isLast, page.anchor == before { throw HealthIntakeError.source(.stalled) }
            let stored = try await storing { () async throws(HealthExportError) in
                try await store.take(page, of: kind, priority: priority)
            }
            report.add(stored)
            isLast = page.isLast
        }
        return report
    }

    private func anchor(_ kind: HealthKind) throws(HealthIntakeError) -> HealthAnchor? {
        do throws(HealthExportError) { return try store.anchor(of: kind) } catch {
            throw .store(error)
        }
    }

    private func asking<Value: Sendable>(
        _ body: () async throws(HealthSourceError) -> Value
    ) async throws(HealthIntakeError) -> Value {
        do throws(HealthSourceError) { return try await body() } catch { throw .source(error) }
    }

    private func storing<Value: Sendable>(
        _ body: () async throws(HealthExportError) -> Value
    ) async throws(HealthIntakeError) -> Value {
        do throws(HealthExportError) { return try await body() } catch { throw .store(error) }
    }
}
