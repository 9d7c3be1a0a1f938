import TidemarkModel

/// The connected write streams, and the number of histories in the store.
///
/// A turn's writes work on a copy, the ``WriteStreamStage``, which is taken over after it is
/// durable.
final class WriteStreams {
    private(set) var connections: [CallID: WriteStreamState] = [:]
    private(set) var storedHistories: Int

    init(storedHistories: Int) { self.storedHistories = storedHistories }

    var ids: [CallID] { Array(connections.keys) }

    /// Returns true if the stream's first message was answered.
    func isOpen(_ id: CallID) -> Bool { connections[id]?.isOpen == true }

    /// - Returns: True if there was such a stream.
    func remove(_ id: CallID) -> Bool { connections.removeValue(forKey: id) != nil }

    func removeAll() { connections = [:] }

    func adopt(_ connections: [CallID: WriteStreamState], storedHistories: Int) {
        self.connections = connections
        self.storedHistories = storedHistories
    }

    /// Resets the number of histories after the store was restored from a snapshot.
    func restore(storedHistories: Int) { self.storedHistories = storedHistories }
}
