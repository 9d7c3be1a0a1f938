import TidemarkApp
import TidemarkModel

/// A full read of a history's collection at one time.
struct HistoryTruth {
    typealias Row = (position: PagePosition, number: Int64, time: Timestamp)

    /// All documents, whatever they are.
    let all: [DocumentPath: Document]
    private let oracle: QueryOracle
    private let marksDeletes: Bool

    init(_ documents: [Document], _ mood: FeedHistoryMood) {
        all = Dictionary(uniqueKeysWithValues: documents.map { ($0.path, $0) })
        oracle = QueryOracle(HistoryDevice.query(mood), in: World.database)
        marksDeletes = mood.way == .changeTime || mood.way == .countedChangeTime
    }

    func matches(_ path: DocumentPath) -> Bool {
        guard let document = all[path] else { return false }
        return oracle.matches(path, document.fields)
    }

    /// The items above a clear mark, as every feed should show them.
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
    /// Of its version.
    var number: Int64 {
        if case .integer(let number)? = fields["v"] { number } else { 0 }
    }
}

extension HistoryWay {
    /// Only syncs count: while a feed listens, what has gone without a change is found by the next one.
    var whileListening: Self { self == .countedChangeTime ? .changeTime : self }
}

/// What a feed's way does not promise, as its documentation says it.
struct HistoryPromise {
    let way: HistoryWay
    let writes: HistoryWrites
    let now: HistoryTruth

    /// Whether an item may be missing.
    func mayMiss(_ path: DocumentPath) -> Bool {
        way == .itemTime && (writes.changed.contains(path) || isLate(path))
    }

    /// Whether another version of it may be shown.
    func mayBeStale(_ path: DocumentPath) -> Bool {
        switch way {
        case .changeTime, .countedChangeTime, .versionAudit: false
        case .countAudit: true
        case .itemTime: writes.changed.contains(path)
        }
    }

    /// Whether it may be shown though it is no item.
    func mayLinger(_ path: DocumentPath) -> Bool {
        switch way {
        // Really deleted, or out of the filters.
        case .changeTime: !now.matches(path)
        case .countedChangeTime, .versionAudit, .countAudit: false
        case .itemTime: writes.changed.contains(path)
        }
    }

    /// Whether everything is promised of it.
    func isWhole(_ path: DocumentPath) -> Bool {
        !mayMiss(path) && !mayBeStale(path) && !mayLinger(path)
    }

    /// A count alone does not see a delete beside an insert. What moves is a delete in one range and an
    /// insert in another, which may be found while the first is not.
    func cancels(missing: Int, lingering: Int) -> Bool {
        way == .countAudit && abs(missing - lingering) <= writes.moved.count
    }

    /// Whether its time was below that of an item that was there before it: the newest one that
    /// somebody held may have been that.
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
