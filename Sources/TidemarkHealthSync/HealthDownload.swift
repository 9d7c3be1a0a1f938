public import Tidemark
public import TidemarkApp
public import TidemarkHealth

/// Downloads the days that another device of the user has sent into a `HealthStore`, newest first,
/// so the store's summary becomes complete.
///
/// It is both the source and the sink of a `Backfill`:
///
/// ```swift
/// let download = try HealthDownload(firestore.collection("users/kim/days"), into: store)
/// let job = download.job(days: 90, until: today)
/// let returning = Backfill([.init(job, from: download, to: download)])
/// try await returning.start()
/// ```
///
/// The measurements of this device stay unchanged, and downloaded days are not sent again. The days
/// stay in the cache too. Costs one read per day, and one for a window without days.
public struct HealthDownload: BackfillSource, BackfillSink {
    public typealias Items = [HealthDayRecord]

    private static let dayField = "day"

    private let days: CollectionReference
    private let health: HealthStore
    private let pages: QueryHistory
    private let name: String

    /// - Parameters:
    ///   - collection: The collection of this person's days.
    ///   - store: The store that receives the days.
    ///   - name: The name under which the cache remembers which days were fetched.
    /// - Throws: `invalidArgument` when the collection cannot be read.
    public init(
        _ collection: CollectionReference, into store: HealthStore,
        name: String = "health-download"
    ) throws(FirestoreError) {
        days = collection
        health = store
        self.name = name
        pages = try QueryHistory(collection, itemTime: Self.dayField, name: name, pageSize: 100)
    }

    /// A job for the newest days.
    ///
    /// - Parameters:
    ///   - count: The number of days; at least 1.
    ///   - last: The last of them.
    ///   - priority: Jobs with a higher priority run first.
    public func job(days count: Int, until last: HealthDay, priority: Int = 0) -> BackfillJob {
        precondition(count > 0, "a history of nothing")
        return BackfillJob(
            name: name, from: Self.time(last.number - Int64(count) + 1),
            to: Self.time(last.number + 1), priority: priority)
    }

    private static func time(_ day: Int64) -> Timestamp {
        Timestamp(seconds: day * 86_400, nanoseconds: 0)
    }

    /// Stores days that arrive another way, for example from a listening feed of the same
    /// collection.
    ///
    /// - Parameter records: Whole days, which replace the days that were received earlier.
    /// - Throws: `HealthExportError`; then nothing was stored.
    public func receive(_ records: [HealthDayRecord]) async throws(HealthExportError) {
        try await health.receive(
            records.flatMap(\.hours), of: Set(records.map(\.day)))
    }

    public func fetch(
        _ range: Range<CoveragePosition>
    ) async throws(BackfillFailure) -> BackfillPart<[HealthDayRecord]> {
        let part = try await pages.fetch(range)
        let found: QuerySnapshot
        do throws(FirestoreError) {
            // Reads the documents that the page has put into the cache; this costs no reads.
            found = try await days.whereField(
                Self.dayField, isGreaterThanOrEqualTo: part.reached.time
            ).whereField(Self.dayField, isLessThan: range.upperBound.time)
                .getDocuments(source: .cache)
        } catch {
            throw BackfillFailure(error)
        }
        // A document of a later version is left for a later version of this app.
        let records = found.documents.compactMap { document in
            document.fields.flatMap {
                HealthDayRecord(documentID: document.documentID, fields: $0)
            }
        }
        return BackfillPart(
            records, reached: part.reached, asOf: part.asOf, samples: part.samples,
            bytes: part.bytes, reads: part.reads)
    }

    public func coverage() async throws(BackfillFailure) -> Coverage {
        try await pages.coverage()
    }

    public func store(_ items: [HealthDayRecord]) async throws(BackfillFailure) {
        do throws(HealthExportError) { try await receive(items) } catch {
            throw .transient(error.message)
        }
    }

    /// Uploads nothing, because the server has the days already.
    public func upload(_ items: [HealthDayRecord]) async throws(BackfillFailure) -> Int { 0 }

    public func cover(_ coverage: Coverage) async throws(BackfillFailure) {
        try await pages.cover(coverage)
    }
}
