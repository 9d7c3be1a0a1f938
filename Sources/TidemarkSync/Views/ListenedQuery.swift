import TidemarkModel

/// A query that somebody listens to.
///
/// A class, so that its view has one owner, whose steps copy nothing, and looking at it copies nothing.
final class ListenedQuery {
    struct Listener {
        let id: UInt64
        var machine: QueryListener
        let observer: Observer

        var options: SyncEngine.ListenOptions { machine.options }
    }

    typealias Observer = @Sendable (Result<ViewSnapshot, SyncError>) -> Void

    let key: QueryKey
    private(set) var targetID: Int32
    /// Whom it is counted for: the first of its listeners that asked the server.
    private(set) var tag: ReadTag
    /// Of its first listen: events come in this order.
    let order: UInt64
    private(set) var view: View
    /// In the order they came, which is that of their ids.
    private(set) var listeners: [Listener] = []
    /// Which one of the engine's sliced reads finds out which documents the target has.
    private(set) var keysRead: UInt64?
    /// Whether it is one of ``ListenedQueries`` still.
    private(set) var isListened = true

    /// Nobody has been told anything.
    init(
        _ key: QueryKey, targetID: Int32, _ shape: ViewShape, synced: Set<DocumentPath>?,
        first: Listener
    ) {
        self.key = key
        self.targetID = targetID
        tag = first.options.tag
        order = first.id
        view = .empty(shape, synced: synced)
        listeners = [first]
    }

    var query: Query { view.query }

    /// In the order the listeners came.
    var listenerIDs: [UInt64] { listeners.map(\.id) }

    /// Mostly there is one; nil where there are more, or none.
    var onlyListenerID: UInt64? { listeners.count == 1 ? listeners[0].id : nil }

    /// Whether one of the listeners wants to hear of the server.
    var isRemote: Bool { listeners.contains { $0.options.source != .cache } }

    // MARK: Listeners

    /// The first one that asks the server pays for it.
    func add(_ listener: Listener) {
        if listener.options.source != .cache, !isRemote { tag = listener.options.tag }
        listeners.insert(listener, at: listeners.partitioningIndex { $0.id > listener.id })
    }

    func has(_ id: UInt64) -> Bool { place(of: id) != nil }

    func remove(_ id: UInt64) {
        if let place = place(of: id) { listeners.remove(at: place) }
    }

    /// - Returns: What is to be told to whom; nil when there is nothing to tell, or nobody.
    func step(
        _ id: UInt64, _ event: consuming QueryListener.Event
    ) -> (ViewSnapshot, observer: Observer)? {
        guard let place = place(of: id) else { return nil }
        guard let snapshot = listeners[place].machine.step(event) else { return nil }
        return (snapshot, listeners[place].observer)
    }

    private func place(of id: UInt64) -> Int? {
        if let only = onlyListenerID { return only == id ? 0 : nil }
        let place = listeners.partitioningIndex { $0.id >= id }
        return place < listeners.count && listeners[place].id == id ? place : nil
    }

    // MARK: The view

    func step(_ event: View.Event) -> [View.Effect] { view.step(event) }

    /// The row of a document, if it has one.
    func document(at path: DocumentPath) -> ViewDocument? { view.document(at: path) }

    /// Which documents its target has.
    func learn(synced: Set<DocumentPath>) { view.learn(synced: synced) }
    func setKeysRead(_ read: UInt64?) { keysRead = read }

    /// Another cache knows the target by another number.
    func move(to targetID: Int32) { self.targetID = targetID }
    func markRemoved() { isListened = false }
}
