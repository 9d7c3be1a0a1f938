import TidemarkModel

/// A notification from one part to the engine's loop, for other parts. The loop dispatches it when
/// the call that sent it has returned.
enum EngineEvent {
    /// Data of the server could not be stored.
    case storageFailed
    case onlineStateChanged(OnlineState.State)
    /// A call was answered while the server counted as offline.
    case serverIsBack
    /// The listen stream has delivered a consistent snapshot.
    case snapshot(RemoteEvent)
    /// The server rejected a target.
    case targetRejected(Int32, RPCStatus)
    /// Reads were billed to listeners, and a budget may be used up.
    case listenersBilled
    /// A document matches in a view but is not in the server's result.
    case enteredLimbo(DocumentPath, view: Int32)
    case leftLimbo(DocumentPath, view: Int32)
    /// This process now holds the cache, which another process held.
    case cacheTaken
    /// Another process asks for the cache.
    case cacheWanted
    /// A batch was queued or left the queue, so its files may have changed.
    case filesChanged
    /// The cache could not be read for a query. Its listeners receive the error and end.
    case queryFailed(ListenedQuery, SyncError)
}
