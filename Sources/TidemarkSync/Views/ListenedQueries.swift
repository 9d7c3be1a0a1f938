import TidemarkModel

/// The queries with listeners, by key and by the targets that they share.
final class ListenedQueries {
    private var byKey: [QueryKey: ListenedQuery] = [:]
    /// The queries by target. A query with a limit to the last rows is flipped, and shares a target
    /// with another query.
    private var byTarget: [Int32: [ListenedQuery]] = [:]

    var isEmpty: Bool { byKey.isEmpty }
    subscript(key: QueryKey) -> ListenedQuery? { byKey[key] }
    func of(target id: Int32) -> [ListenedQuery] { byTarget[id] ?? [] }
    func has(target id: Int32) -> Bool { byTarget[id] != nil }

    /// The queries in the order in which they receive events.
    var inOrder: [ListenedQuery] {
        if byKey.count < 2 { return Array(byKey.values) }
        return byKey.values.sorted { $0.order < $1.order }
    }

    func containing(listener id: UInt64) -> ListenedQuery? {
        byKey.values.first { $0.has(id) }
    }

    func contains(where isWanted: (ListenedQuery) -> Bool) -> Bool {
        byKey.values.contains(where: isWanted)
    }

    func forEach(_ body: (ListenedQuery) throws -> Void) rethrows {
        for listened in byKey.values { try body(listened) }
    }

    /// Returns the document in the form of the first view that has it.
    func firstView(with path: DocumentPath) -> ViewDocument? {
        for listened in byKey.values {
            if let document = listened.document(at: path) { return document }
        }
        return nil
    }

    /// Returns the rows of a target as of the last raised snapshot.
    func rows(ofTarget id: Int32) -> Set<DocumentPath> {
        // This is called for each document of a stream. A copy of the view took a tenth of the time
        // for a document.
        for listened in byTarget[id] ?? [] {
            if let keys = listened.view.synced { return keys }
        }
        return []
    }

    // MARK: Changes

    func add(_ listened: ListenedQuery) {
        byKey[listened.key] = listened
        byTarget[listened.targetID, default: []].append(listened)
    }

    /// - Returns: True if the query was present.
    func remove(_ listened: ListenedQuery) -> Bool {
        guard listened.isListened else { return false }
        listened.markRemoved()
        byKey[listened.key] = nil
        byTarget[listened.targetID]?.removeAll { $0 === listened }
        if byTarget[listened.targetID]?.isEmpty == true { byTarget[listened.targetID] = nil }
        return true
    }

    /// - Returns: The removed queries, in order.
    func removeAll() -> [ListenedQuery] {
        let all = inOrder
        for listened in all { listened.markRemoved() }
        (byKey, byTarget) = ([:], [:])
        return all
    }

    /// Forgets the targets after another cache was opened. No target is known until
    /// ``move(_:to:)``.
    func forgetTargets() { byTarget = [:] }

    func move(_ listened: ListenedQuery, to targetID: Int32) {
        listened.move(to: targetID)
        byTarget[targetID, default: []].append(listened)
    }
}
