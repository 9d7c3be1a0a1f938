import TidemarkModel

/// Decides which snapshots of a view one listener receives, and in which form.
struct QueryListener: Equatable, Sendable {
    enum Event: Equatable, Sendable {
        case snapshot(ViewSnapshot, hasCachedResults: Bool, OnlineState.State)
        case online(OnlineState.State)
    }

    let options: SyncEngine.ListenOptions
    private var hasRaised = false
    /// The last snapshot, kept until the first one is raised.
    private var last: ViewSnapshot?
    /// True if the last raised snapshot had pending writes.
    private var hadPendingWrites: Bool?
    private var hasCachedResults = false

    init(_ options: SyncEngine.ListenOptions) { self.options = options }

    /// - Returns: The snapshot for the listener, if any.
    mutating func step(_ event: consuming Event) -> ViewSnapshot? {
        switch consume event {
        case .snapshot(let snapshot, let cached, let online):
            if cached { hasCachedResults = true }
            return receive(snapshot, online)
        case .online(let online):
            guard !hasRaised, let last, isFirst(last, online) else { return nil }
            return raiseFirst(last)
        }
    }

    private mutating func receive(
        _ snapshot: consuming ViewSnapshot, _ online: OnlineState.State
    ) -> ViewSnapshot? {
        if !options.includeMetadataChanges { snapshot.dropMetadataChanges() }
        let pendingChanged = hadPendingWrites.map { $0 != snapshot.hasPendingWrites } ?? false
        hadPendingWrites = snapshot.hasPendingWrites
        guard hasRaised else {
            if isFirst(snapshot, online) { return raiseFirst(snapshot) }
            last = snapshot
            return nil
        }
        if snapshot.hasChanges { return snapshot }
        guard options.includeMetadataChanges else { return nil }
        return snapshot.syncStateChanged || pendingChanged ? snapshot : nil
    }

    /// True if the listener's first snapshot can be this one. Unknown counts as online.
    private func isFirst(_ snapshot: ViewSnapshot, _ online: OnlineState.State) -> Bool {
        if !snapshot.isFromCache || options.source == .cache { return true }
        if options.source == .server && online != .offline { return false }
        return snapshot.count > 0 || hasCachedResults || online == .offline
    }

    /// Raises the first snapshot. All rows are new to a listener that has seen none.
    private mutating func raiseFirst(_ snapshot: consuming ViewSnapshot) -> ViewSnapshot {
        hasRaised = true
        last = nil
        snapshot.becomeFirst()
        return snapshot
    }
}
