public import Foundation

/// Imports the hours of a store that the app used before: CSV or JSON lines with kind, start, end,
/// value and source.
///
/// The app has added up each hour, so the hour can neither be divided nor be compared with
/// measurements. It is used only while nothing was measured here in that hour. When samples of the
/// hour arrive, from HealthKit or an export, only the samples count. Importing the same rows again
/// changes nothing.
///
/// ```
/// kind,start,end,value,source
/// steps,2026-05-10T08:00:00+02:00,2026-05-10T09:00:00+02:00,812,Watch
/// ```
/// ```
/// {"kind":"steps","start":1778392800,"end":1778396400,"value":812,"source":"Watch"}
/// ```
///
/// A kind is one of ``HealthKind/name`` or HealthKit's names. A time is one of these:
///
/// - ISO 8601 with a `T` or a space: `2026-05-10T08:00:00+02:00`, `2026-05-10 08:00:00 +0200`,
///   `2026-05-10T06:00:00Z`. Fractions of a second are allowed and ignored;
/// - the same without a zone, `2026-05-10T08:00:00`, which is the local time of `timeZone`;
/// - a date of iOS 8, `20260510080000+0200`;
/// - seconds since 1970 as a number, `1778392800`. Milliseconds are out of range.
///
/// A row without an end ends with its hour. Values are in the kind's unit, or in the unit of a
/// column `unit`. If several sources have the same hour of an amount, the source with the highest
/// priority counts.
public struct HourlyRows: Sendable {
    public struct Report: Hashable, Sendable {
        public internal(set) var rows = 0
        /// The number of hours that are new or have changed.
        public internal(set) var added = 0
        /// The number of hours that the store had, or that were measured here.
        public internal(set) var known = 0
        public internal(set) var bad = 0
        /// The first hundred bad rows.
        public internal(set) var badRows: [BadRow] = []
        public internal(set) var change = HealthChange()
    }

    /// A row that was skipped, and the reason.
    public struct BadRow: Hashable, Sendable, CustomStringConvertible {
        /// The line in the file, from 1.
        public let line: Int
        public let reason: BadRecord.Reason
        /// The wrong text of the row, at most 100 characters; nil if no single text is wrong.
        public let text: String?

        public var description: String { reason.description(of: text) }
    }

    private let store: HealthStore
    private let reader: RowReader
    private let priority: SourcePriority

    /// - Parameters:
    ///   - store: The store of the hours.
    ///   - kinds: The app's own names of kinds, in addition to the usual names.
    ///   - timeZone: The user's time zone, for times without a zone: those in UTC, and numbers.
    ///   - priority: The priority of the sources.
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
    /// - Parameter path: The path of a CSV file whose first line has the names of the columns, or
    ///   of a file of JSON lines. The contents decide which.
    /// - Returns: The counts. Bad rows are counted and listed; the others are stored.
    /// - Throws: ``HealthExportError``; then nothing was stored.
    @concurrent
    public func run(_ path: String) async throws(HealthExportError) -> Report {
        let file = try ReadOnlyFile(path)
        return try stored { staging, reader in try Self.bring(file, into: &staging, reader) }
    }

    /// Stores the rows that `bring` adds, in one transaction.
    func stored(
        _ bring: (inout RowStaging, RowReader) throws -> Void
    ) throws(HealthExportError) -> Report {
        let report = try store.write { db in
            var staging = try RowStaging(db)
            try bring(&staging, reader)
            return try staging.fold(priority)
        }
        HealthMetrics.count(report)
        store.announce(report.change)
        return report
    }

    private static func bring(
        _ file: ReadOnlyFile, into staging: inout RowStaging, _ reader: RowReader
    ) throws {
        var lines = LineReader(file)
        var format: RowFormat?
        while let (number, text) = try lines.next() {
            guard let text else {
                staging.refuse(number, reason: .tooLong)
                continue
            }
            if text.allSatisfy(\.isWhitespace) { continue }
            guard let known = format else {
                guard let found = RowFormat(firstLine: text) else {
                    throw HealthExportError.notRows(file: file.name)
                }
                format = found
                if found == .jsonLines {
                    try staging.add(found.fields(text), line: number, reader: reader)
                }
                continue
            }
            try staging.add(known.fields(text), line: number, reader: reader)
        }
        if format == nil { throw HealthExportError.notRows(file: file.name) }
    }
}
