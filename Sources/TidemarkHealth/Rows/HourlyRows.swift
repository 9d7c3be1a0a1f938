public import Foundation
import GRDB

/// Brings along the hours of a store that an app had before: CSV or JSON lines with kind, start, end, value
/// and source.
///
/// Such an hour was added up by the app, so it can be neither divided nor compared with measurements. It
/// fills what was not measured here: as soon as samples of the same hour come, from HealthKit or an export,
/// theirs count alone. Bringing the same rows again changes nothing.
///
/// ```
/// kind,start,end,value,source
/// steps,2026-05-10T08:00:00+02:00,2026-05-10T09:00:00+02:00,812,Watch
/// ```
/// ```
/// {"kind":"steps","start":1778392800,"end":1778396400,"value":812,"source":"Watch"}
/// ```
///
/// A kind is one of ``HealthKind/name`` or HealthKit's. A time is one of these:
///
/// - ISO 8601 with a `T` or a space: `2026-05-10T08:00:00+02:00`, `2026-05-10 08:00:00 +0200`,
///   `2026-05-10T06:00:00Z`, each also with parts of a second, which are left out;
/// - the same without a zone, `2026-05-10T08:00:00`, which is the local time of `timeZone`;
/// - a date of iOS 8, `20260510080000+0200`;
/// - seconds since 1970 as a number, `1778392800`. Milliseconds are out of range.
///
/// A row without an end ends with its hour. Values are in the kind's unit, or in that of a column `unit`. Where several sources
/// have the same hour of an amount, the one that is believed most counts.
public struct HourlyRows: Sendable {
    public struct Report: Hashable, Sendable {
        public internal(set) var rows = 0
        /// Hours that are others than before.
        public internal(set) var added = 0
        /// Hours that were there, or that were measured here.
        public internal(set) var known = 0
        public internal(set) var bad = 0
        /// The first hundred.
        public internal(set) var badRows: [BadRow] = []
        public internal(set) var change = HealthChange()
    }

    /// A row that was left out, and why.
    public struct BadRow: Hashable, Sendable, CustomStringConvertible {
        /// In the file, from 1.
        public let line: Int
        public let reason: BadRecord.Reason
        /// What is written there, at most 100 characters of it; nil if no single text is wrong.
        public let text: String?

        public var description: String { reason.description(of: text) }
    }

    private let store: HealthStore
    private let reader: RowReader
    private let priority: SourcePriority

    /// - Parameters:
    ///   - store: Where hours go.
    ///   - kinds: Names of kinds as the app wrote them, beside the usual ones.
    ///   - timeZone: Where the person was, for times that do not say it: in UTC, or numbers.
    ///   - priority: Which source to believe.
    public init(
        into store: HealthStore, kinds: [String: HealthKind] = [:], timeZone: TimeZone = .current,
        priority: SourcePriority = SourcePriority()
    ) {
        self.store = store
        reader = RowReader(kinds: kinds, timeZone: timeZone)
        self.priority = priority
    }

    /// Reads a file and stores its hours, in one transaction.
    ///
    /// - Parameter path: CSV with a first line of names, or JSON lines, by what is in it.
    /// - Returns: What was found. Bad rows are counted and listed; the others are stored.
    /// - Throws: ``HealthExportError``, and nothing was stored.
    @concurrent
    public func run(_ path: String) async throws(HealthExportError) -> Report {
        let file = try ReadOnlyFile(path)
        let report = try store.write { db in try bring(file, into: db) }
        HealthMetrics.count(report)
        store.announce(report.change)
        return report
    }

    private func bring(_ file: ReadOnlyFile, into db: Database) throws -> Report {
        var staging = try RowStaging(db)
        var lines = LineReader(file)
        var format: RowFormat?
        while let (number, text) = try lines.next() {
            guard let text else {
                staging.refuse(number, .tooLong)
                continue
            }
            if text.allSatisfy(\.isWhitespace) { continue }
            guard let known = format else {
                guard let found = RowFormat(firstLine: text) else {
                    throw HealthExportError.notRows(file: file.name)
                }
                format = found
                if found == .jsonLines { try staging.add(text, number, found, reader) }
                continue
            }
            try staging.add(text, number, known, reader)
        }
        if format == nil { throw HealthExportError.notRows(file: file.name) }
        return try staging.fold(priority)
    }
}
