package import TidemarkModel

/// Counts documents by label whose change time is wrong: missing, no time, older than the
/// document's last write, or later than it.
package struct CheckTally: Codable, Equatable, Sendable {
    /// The counts of one label.
    package struct Row: Codable, Equatable, Sendable {
        package var documents = 0
        /// The change time is older than the last write: that writer has forgotten it.
        package var stale = Examples()
        /// The change time is later than the last write: a device's clock made it.
        package var ahead = Examples()
        package var missing = Examples()
        package var wrongType = Examples()

        package init() {}

        package var found: Int { stale.count + ahead.count + missing.count + wrongType.count }
    }

    /// The maximum number of labels. Documents of further labels are counted together.
    package static let maxLabels = 200
    /// The name of the row of all labels beyond the limit.
    package static let otherLabels = "(other labels)"

    package private(set) var rows: [String: Row] = [:]
    /// The number of documents whose last write was a migration's.
    package private(set) var migrated = 0
    /// The number of documents that were last written before the time from which is judged.
    package private(set) var older = 0
    /// The difference in seconds between change time and last write that counts as wrong.
    private let tolerance: Int64
    /// The first time that is judged, in microseconds; nil to judge all.
    private let since: Int64?
    private let windows: [WrittenWindow]

    /// - Parameters:
    ///   - tolerance: The difference in seconds that is not yet wrong.
    ///   - since: Documents that were last written before it are not judged; nil to judge all.
    ///   - windows: The times between which migrations have written. Such a document has an
    ///     older change time for that reason alone, until its next write.
    package init(tolerance: Int64 = 60, since: Timestamp? = nil, windows: [WrittenWindow] = []) {
        self.tolerance = tolerance
        self.since = since?.microseconds
        self.windows = windows
    }

    /// The number of documents with a wrong change time.
    package var found: Int { rows.values.reduce(0) { $0 + $1.found } }

    package mutating func take(_ document: SeenDocument) {
        let isKnown = rows[document.label] != nil || rows.count < Self.maxLabels
        let label = isKnown ? document.label : Self.otherLabels
        var row = rows[label] ?? Row()
        row.documents += 1
        judge(document, &row)
        rows[label] = row
    }

    private mutating func judge(_ document: SeenDocument, _ row: inout Row) {
        switch document.changeTime {
        case .missing: row.missing.add(document.path, "no change time")
        case .other(let type): row.wrongType.add(document.path, type)
        case .time(let time):
            if let since, document.updateTime.microseconds < since {
                older += 1
                return
            }
            let gap = document.updateTime.microseconds - time.microseconds
            if gap < -tolerance * 1_000_000 {
                row.ahead.add(document.path, "\(-gap / 1_000_000) s later than its last write")
            } else if gap > tolerance * 1_000_000 {
                if windows.contains(where: { $0.contains(document.updateTime) }) {
                    migrated += 1
                } else {
                    row.stale.add(document.path, "\(gap / 1_000_000) s older than its last write")
                }
            }
        }
    }
}

/// Decides what a check of one collection does next. It only reads.
package struct CheckMachine: Equatable, Sendable {
    package enum Event: Sendable {
        case page([SeenDocument])
        case failed(RPCStatus)
        case woke
    }

    package enum Effect: Equatable, Sendable {
        case read(after: DocumentPath?, limit: Int)
        case wait(Duration)
        case end(FillMachine.Ending)
    }

    package private(set) var tally: CheckTally
    package private(set) var reads = 0
    private var last: DocumentPath?
    private var failures = 0

    package init(_ tally: CheckTally) { self.tally = tally }

    package func start() -> Effect { .read(after: last, limit: FillMachine.pageSize) }

    package mutating func step(_ event: Event) -> Effect {
        switch event {
        case .woke: return start()
        case .failed(let status):
            failures += 1
            guard status.migrationFailure == .temporary, failures < FillMachine.maxFailures
            else { return .end(.stopped(status)) }
            return .wait(.seconds(1 << (failures - 1)))
        case .page(let documents):
            failures = 0
            reads += max(1, documents.count)
            for document in documents { tally.take(document) }
            last = documents.last?.path ?? last
            return documents.count < FillMachine.pageSize ? .end(.finished) : start()
        }
    }
}
