import TidemarkModel

/// Requests the documents that match here but are missing in the server's target, one by one. The
/// answer shows whether each was changed, deleted or forbidden.
struct LimboResolution: Equatable, Sendable {
    enum Event: Equatable, Sendable {
        /// The view with the id `view` holds the document.
        case entered(DocumentPath, view: Int32)
        case left(DocumentPath, view: Int32)
        case viewGone(Int32)
        /// A snapshot changed the server's answer for a limbo target.
        case received(targetID: Int32, exists: Bool)
        /// The server refused the target, and the stream no longer has it.
        case rejected(targetID: Int32)
    }

    enum Effect: Equatable, Sendable {
        case listen(targetID: Int32, DocumentPath)
        case unlisten(targetID: Int32)
    }

    private struct Active: Equatable, Sendable {
        let path: DocumentPath
        /// True if the target's snapshot contains the document.
        var isReceived = false
    }

    let limit: Int
    /// The waiting documents, first in, first out, without duplicates.
    private(set) var queue: [DocumentPath] = []
    private var views: [DocumentPath: Set<Int32>] = [:]
    private var activeTargets: [DocumentPath: Int32] = [:]
    private var active: [Int32: Active] = [:]
    /// The next target id. It is odd, because targets of listeners are even.
    private var nextID: Int32 = 1

    /// Source of the default: `core/core/firestore_client.cc`.
    init(limit: Int = 100) {
        precondition(limit > 0)
        self.limit = limit
    }

    /// Returns the document of a limbo target; nil for another target.
    func path(of targetID: Int32) -> DocumentPath? { active[targetID]?.path }
    /// True if the document is or will be requested for the view.
    func isAsked(_ path: DocumentPath, view: Int32) -> Bool { views[path]?.contains(view) == true }
    func viewIDs(of path: DocumentPath) -> Set<Int32> { views[path] ?? [] }
    var activePaths: [DocumentPath] { active.values.map(\.path).sorted() }

    func remoteKeys(of targetID: Int32) -> Set<DocumentPath>? {
        if active.isEmpty { return nil }
        return active[targetID].map { $0.isReceived ? [$0.path] : [] }
    }

    mutating func step(_ event: Event) -> [Effect] {
        switch event {
        case .entered(let path, let view):
            views[path, default: []].insert(view)
            guard views[path]!.count == 1, activeTargets[path] == nil else { return [] }
            queue.append(path)
            return pump()
        case .left(let path, let view): return leave(path, view) + pump()
        case .viewGone(let view):
            let paths = views.filter { $0.value.contains(view) }.keys.sorted()
            return paths.flatMap { leave($0, view) } + pump()
        case .received(let targetID, let exists):
            active[targetID]?.isReceived = exists
            return []
        case .rejected(let targetID):
            guard let path = active.removeValue(forKey: targetID)?.path else { return [] }
            activeTargets[path] = nil
            return pump()
        }
    }

    private mutating func leave(_ path: DocumentPath, _ view: Int32) -> [Effect] {
        guard views[path]?.remove(view) != nil, views[path]!.isEmpty else { return [] }
        views[path] = nil
        queue.removeAll { $0 == path }
        guard let targetID = activeTargets.removeValue(forKey: path) else { return [] }
        active[targetID] = nil
        return [.unlisten(targetID: targetID)]
    }

    private mutating func pump() -> [Effect] {
        var effects: [Effect] = []
        while active.count < limit, !queue.isEmpty {
            let path = queue.removeFirst()
            active[nextID] = Active(path: path)
            activeTargets[path] = nextID
            effects.append(.listen(targetID: nextID, path))
            nextID += 2
        }
        return effects
    }
}
