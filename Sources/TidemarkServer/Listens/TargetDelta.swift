import TidemarkModel
import TidemarkStore

/// The changes of a target since a time, from the log. They are exact, and include removals.
struct TargetDelta {
    /// The bill of the changes.
    var usage: Usage {
        Usage(
            reads: snapshot.readsByTarget.values.reduce(0, +),
            units: BilledUnits(realtimeUpdate: snapshot.unitsByTarget.values.reduce(0, +)))
    }

    private(set) var snapshot: StreamSnapshot
    /// The increase of the number of matches.
    private(set) var growth = 0

    private let target: LiveTarget
    private let scope: ReadScope

    /// - Parameter isBilledByUnits: True for a database of the Enterprise edition.
    init(
        of target: LiveTarget, since time: Timestamp, _ scope: ReadScope, isBilledByUnits: Bool
    ) throws {
        snapshot = StreamSnapshot(isBilledByUnits: isBilledByUnits)
        self.target = target
        self.scope = scope
        let log = scope.log
        switch target.kind {
        case .documents(let paths): try addDocuments(paths, since: time, log)
        case .query(let query) where query.isCutOff: try addWindow(query, since: time, log)
        case .query(let query): try addQuery(query, since: time, log)
        }
    }

    private mutating func addDocuments(
        _ paths: [DocumentPath], since time: Timestamp, _ log: ChangeLog?
    ) throws {
        guard let log else { return }
        for path in Set(paths).sorted() {
            guard let undo = try log.undo(of: path, after: time) else { continue }
            let document = try scope.document(at: path)
            add(path, was: undo.previous != nil, document, isNow: document != nil)
        }
    }

    private mutating func addQuery(
        _ query: Query, since time: Timestamp, _ log: ChangeLog?
    ) throws {
        guard let log else { return }
        for undo in try log.undos(after: time, where: { query.contains($0) }) {
            let document = try scope.document(at: undo.path)
            add(
                undo.path,
                was: matches(
                    query, path: undo.path, fields: undo.previous?.fields, database: scope.database),
                document,
                isNow: matches(
                    query, path: undo.path, fields: document?.fields, database: scope.database))
        }
    }

    private mutating func add(
        _ path: DocumentPath, was: Bool, _ document: Document?, isNow: Bool
    ) {
        if isNow, let document {
            snapshot.add(document, to: target)
            if !was { growth += 1 }
        } else if was {
            snapshot.remove(path, changedTo: document, from: target)
            growth -= 1
        }
    }

    /// Compares the past and the present rows of a query with a limit or an offset.
    private mutating func addWindow(
        _ query: Query, since time: Timestamp, _ log: ChangeLog?
    ) throws {
        let rows = try scope.documents(query)
        target.window = TargetWindow.versions(of: rows)
        guard let log else { return }
        let then = ReadScope(
            database: scope.database, table: scope.table, readTime: time, log: log, isPast: true)
        let old = TargetWindow.versions(of: try then.documents(query))
        growth = rows.count - old.count
        var changed: [DocumentPath: Document?] = [:]
        for path in old.keys {
            guard try log.undo(of: path, after: time) != nil else { continue }
            changed.updateValue(try scope.document(at: path), forKey: path)
        }
        TargetWindow.step(target, from: old, to: rows, changed: changed, snapshot: &snapshot)
    }
}
