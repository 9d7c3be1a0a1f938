import TidemarkModel

/// Decides which of a view's snapshots one listener gets, and in what form.
struct QueryListener: Equatable, Sendable {
    enum Event: Equatable, Sendable {
        case snapshot(ViewSnapshot, hasCachedResults: Bool, OnlineState.State)
        case online(OnlineState.State)
    }

    let options: SyncEngine.ListenOptions
    private var hasRaised = false
    /// Kept until the first is raised.
    private var last: ViewSnapshot?
    /// Of the last one.
    private var hadPendingWrites: Bool?
    private var hasCachedResults = false

    init(_ options: SyncEngine.ListenOptions) { self.options = options }

    /// - Returns: What to tell the listener, if anything.
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

    /// Whether the listener's first snapshot can be this one. Unknown counts as online.
    private func isFirst(_ snapshot: ViewSnapshot, _ online: OnlineState.State) -> Bool {
        if !snapshot.isFromCache || options.source == .cache { return true }
        if options.source == .server && online != .offline { return false }
        return snapshot.count > 0 || hasCachedResults || online == .offline
    }

    /// Everything is new to a listener that has seen nothing.
    private mutating func raiseFirst(_ snapshot: consuming ViewSnapshot) -> ViewSnapshot {
        hasRaised = true
        last = nil
        snapshot.becomeFirst()
        return snapshot
    }
}
