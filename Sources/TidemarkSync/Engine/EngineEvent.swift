import TidemarkModel

/// What one part tells the engine's loop, because others have to hear of it.
enum EngineEvent {
    case timer(TimerID)
    /// What the server said could not be stored.
    case storageFailed
    case onlineStateChanged(OnlineState.State)
    /// A call was answered while the server counted as offline.
    case serverIsBack
    /// The listen stream brought one consistent snapshot.
    case snapshot(RemoteEvent)
    /// The server refused a target.
    case targetRejected(Int32, RPCStatus)
    /// Reads were billed to listeners, and a budget may be used up.
    case listenersBilled
    /// A document matches in a view, and the server's result does not have it.
    case enteredLimbo(DocumentPath, view: Int32)
    case leftLimbo(DocumentPath, view: Int32)
    /// This process holds the cache now, which another one held.
    case cacheTaken
    /// Another process asks for the cache.
    case cacheWanted
    /// The cache could not be read for a query: its listeners hear why, and are gone.
    case queryFailed(ListenedQuery, SyncError)
}
