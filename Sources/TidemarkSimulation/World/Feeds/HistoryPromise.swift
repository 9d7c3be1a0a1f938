import TidemarkApp
import TidemarkModel
import TidemarkTestKit

/// A full read of a history's collection at one time.
struct HistoryTruth {
    typealias Row = (position: PagePosition, number: Int64, time: Timestamp)

    /// The documents, including other documents than items.
    let all: [DocumentPath: Document]
    private let oracle: QueryOracle
    private let marksDeletes: Bool

    init(_ documents: [Document], _ parameters: FeedHistoryParameters) {
        all = Dictionary(uniqueKeysWithValues: documents.map { ($0.path, $0) })
        oracle = QueryOracle(HistoryDevice.query(parameters), in: World.database)
        marksDeletes = parameters.way == .changeTime || parameters.way == .countedChangeTime
    }

    func matches(_ path: DocumentPath) -> Bool {
        guard let document = all[path] else { return false }
        return oracle.matches(path, document.fields)
    }

    /// Returns the items above a clear mark, which every feed should show.
    func items(above action: Timestamp?) -> [DocumentPath: Row] {
        var rows: [DocumentPath: Row] = [:]
        for (path, document) in all where matches(path) {
            guard case .timestamp(let time)? = document.fields["createdAt"],
                action.map({ time > $0 }) ?? true, !isDeleted(document)
            else { continue }
            rows[path] = (
                PagePosition(value: .timestamp(time), path: path), document.number, time
            )
        }
        return rows
    }

    private func isDeleted(_ document: Document) -> Bool {
        marksDeletes && (document.fields["deletedAt"] ?? .null) != .null
    }
}

extension Document {
    /// The number of the document's version.
    var number: Int64 {
        if case .integer(let number)? = fields["v"] { number } else { 0 }
    }
}

extension HistoryWay {
    /// The promise while a feed listens. Only syncs count items, so the next sync finds documents
    /// that disappeared without a change.
    var whileListening: Self { self == .countedChangeTime ? .changeTime : self }
}

/// The exceptions that a feed's way of learning about changes allows, according to its
/// documentation.
struct HistoryPromise {
    let way: HistoryWay
    let writes: HistoryWrites
    let now: HistoryTruth

    /// Returns true if an item can be missing.
    func mayMiss(_ path: DocumentPath) -> Bool {
        way == .itemTime && (writes.changed.contains(path) || isLate(path))
    }

    /// Returns true if an old version of the item can be shown.
    func mayBeStale(_ path: DocumentPath) -> Bool {
        switch way {
        case .changeTime, .countedChangeTime, .versionAudit: false
        case .countAudit: true
        case .itemTime: writes.changed.contains(path)
        }
    }

    /// Returns true if a document can be shown although it is not an item.
    func mayLinger(_ path: DocumentPath) -> Bool {
        switch way {
        // The document was really deleted, or left the filters.
        case .changeTime: !now.matches(path)
        case .countedChangeTime, .versionAudit, .countAudit: false
        case .itemTime: writes.changed.contains(path)
        }
    }

    /// Returns true if no exception applies to the item.
    func isWhole(_ path: DocumentPath) -> Bool {
        !mayMiss(path) && !mayBeStale(path) && !mayLinger(path)
    }

    /// A count alone does not see a delete beside an insert. What moves is a delete in one range
    /// and an insert in another, which may be found while the first is not.
    ///
    /// - Parameters:
    ///   - missing: How many items may have been missing when it was counted.
    ///   - lingering: How many that are gone may have been held then.
    func cancels(missing: ClosedRange<Int>, lingering: ClosedRange<Int>) -> Bool {
        let apart = max(
            missing.lowerBound - lingering.upperBound, lingering.lowerBound - missing.upperBound, 0)
        return way == .countAudit && apart <= writes.moved.count
    }

    /// Returns true if the item's time was below the time of an item that already existed, which
    /// may have been the newest that a device held.
    private func isLate(_ path: DocumentPath) -> Bool {
        guard let document = now.all[path],
            case .timestamp(let time)? = document.fields["createdAt"]
        else { return true }
        let isBehind = writes.arrivals.contains {
            $0.itemTime > time && $0.commitTime < document.createTime
        }
        if isBehind { return true }
        return now.all.values.contains { other in
            guard case .timestamp(let its)? = other.fields["createdAt"] else { return false }
            return its > time && other.createTime < document.createTime
        }
    }
}
