import TidemarkModel

/// A query with listeners.
///
/// This is a class, so its view has one owner, and neither a step nor a read of the view copies it.
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
    /// The tag of the first listener that asked the server; its reads are counted under this tag.
    private(set) var tag: ReadTag
    /// The number of the query's first listen. Events come in this order.
    let order: UInt64
    private(set) var view: View
    /// The listeners in the order of their arrival, which is the order of their ids.
    private(set) var listeners: [Listener] = []
    /// The id of the engine's sliced read that finds the target's documents.
    private(set) var keysRead: UInt64?
    /// True while ``ListenedQueries`` contains the query.
    private(set) var isListened = true

    /// Creates a query whose listeners have received nothing yet.
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

    /// The ids in the order of the listeners' arrival.
    var listenerIDs: [UInt64] { listeners.map(\.id) }

    /// The id of the only listener; nil if there are more or none. Most queries have one.
    var onlyListenerID: UInt64? { listeners.count == 1 ? listeners[0].id : nil }

    /// True if a listener wants rows from the server.
    var isRemote: Bool { listeners.contains { $0.options.source != .cache } }

    // MARK: Listeners

    /// Adds a listener. The first listener that asks the server pays for the query.
    func add(_ listener: Listener) {
        if listener.options.source != .cache, !isRemote { tag = listener.options.tag }
        listeners.insert(listener, at: listeners.partitioningIndex { $0.id > listener.id })
    }

    func has(_ id: UInt64) -> Bool { place(of: id) != nil }

    func remove(_ id: UInt64) {
        if let place = place(of: id) { listeners.remove(at: place) }
    }

    /// - Returns: The snapshot and its observer; nil if there is nothing to report or no such
    ///   listener.
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

    /// Returns the row of a document, if the document has one.
    func document(at path: DocumentPath) -> ViewDocument? { view.document(at: path) }

    /// Sets the documents of the target.
    func learn(synced: Set<DocumentPath>) { view.learn(synced: synced) }
    func setKeysRead(_ read: UInt64?) { keysRead = read }

    /// Sets the number under which another cache knows the target.
    func move(to targetID: Int32) { self.targetID = targetID }
    func markRemoved() { isListened = false }
}
