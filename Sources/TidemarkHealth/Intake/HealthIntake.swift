public import Foundation

/// Brings the samples of a source into a ``HealthStore``: first what a screen shows, then everything, then
/// what comes.
///
/// ```swift
/// let intake = HealthIntake(from: source, into: store)
/// try await intake.firstDays(until: now)
/// try await intake.catchUp()
/// try await intake.follow()
/// ```
///
/// Each page is stored with its anchor in one transaction. Killed or failed at any point, the next call
/// goes on behind the last page that was stored. One at a time for a store.
public struct HealthIntake: Sendable {
    private let source: any HealthSampleSource
    private let store: HealthStore
    private let kinds: [HealthKind]
    private let priority: SourcePriority
    private let pageSize: Int

    /// In a first look at a kind: a week of a watch has some 20,000 of the busiest.
    private static let mostOfFirstDays = 50_000

    /// - Parameters:
    ///   - source: Where samples come from.
    ///   - store: Where they go.
    ///   - kinds: Of what; those that the person is asked about.
    ///   - priority: The same for all that the store is given.
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
    /// Does nothing for kinds of which pages were stored before. What is stored here comes again by
    /// ``catchUp()``, without harm.
    ///
    /// - Parameters:
    ///   - count: Days, 1 to 31.
    ///   - now: Where they end.
    /// - Returns: What was stored.
    /// - Throws: ``HealthIntakeError`` or `CancellationError`; what was stored before it stays.
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

    /// Reads on from where the last page ended, of all kinds, until nothing follows.
    ///
    /// - Returns: What was stored.
    /// - Throws: ``HealthIntakeError`` or `CancellationError`; the pages before it stay.
    @discardableResult
    public func catchUp() async throws -> HealthStoreReport {
        var report = HealthStoreReport()
        for kind in kinds { report.add(try await catchUp(kind)) }
        return report
    }

    /// Reads on whenever the source has something new, until the task is cancelled.
    ///
    /// - Throws: ``HealthIntakeError``: call it again, later. What came meanwhile is not lost.
    public func follow() async throws {
        let updates = source.updates()
        // What was recorded before the source was listened to.
        try await catchUp()
        for await kind in updates where kinds.contains(kind) {
            _ = try await catchUp(kind)
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
            // Else it would be asked for ever.
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
