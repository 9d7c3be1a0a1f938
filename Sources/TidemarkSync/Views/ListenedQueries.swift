import TidemarkModel

/// The queries that somebody listens to, by themselves and by the targets that they share.
final class ListenedQueries {
    private var byKey: [QueryKey: ListenedQuery] = [:]
    /// Those with a limit to the last rows are flipped, and share a target with another one.
    private var byTarget: [Int32: [ListenedQuery]] = [:]

    var isEmpty: Bool { byKey.isEmpty }
    subscript(key: QueryKey) -> ListenedQuery? { byKey[key] }
    func of(target id: Int32) -> [ListenedQuery] { byTarget[id] ?? [] }
    func has(target id: Int32) -> Bool { byTarget[id] != nil }

    /// In the order in which they are told of what happens.
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

    /// How the first view that has the document shows it.
    func firstView(with path: DocumentPath) -> ViewDocument? {
        for listened in byKey.values {
            if let document = listened.document(at: path) { return document }
        }
        return nil
    }

    /// The rows of a target as of the last snapshot that was raised.
    func rows(ofTarget id: Int32) -> Set<DocumentPath> {
        // Asked for each document of a stream: a copy of the view took a tenth of taking it in.
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

    /// - Returns: Whether it was there.
    func remove(_ listened: ListenedQuery) -> Bool {
        guard listened.isListened else { return false }
        listened.markRemoved()
        byKey[listened.key] = nil
        byTarget[listened.targetID]?.removeAll { $0 === listened }
        if byTarget[listened.targetID]?.isEmpty == true { byTarget[listened.targetID] = nil }
        return true
    }

    /// - Returns: Those that were there, in order.
    func removeAll() -> [ListenedQuery] {
        let all = inOrder
        for listened in all { listened.markRemoved() }
        (byKey, byTarget) = ([:], [:])
        return all
    }

    /// Another cache is there: no target is known until ``move(_:to:)``.
    func forgetTargets() { byTarget = [:] }

    func move(_ listened: ListenedQuery, to targetID: Int32) {
        listened.move(to: targetID)
        byTarget[targetID, default: []].append(listened)
    }
}
