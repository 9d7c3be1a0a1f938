import Dispatch

extension Firestore {
    /// Calls `listener` once now, and each time all listeners have received their snapshots of the
    /// same changes.
    public func addSnapshotsInSyncListener(
        _ listener: @escaping @Sendable () -> Void
    ) -> any ListenerRegistration {
        let queue = callbackQueue
        return Observation { isRemoved in
            engine.observeSnapshotsInSync {
                queue.async { if !isRemoved() { listener() } }
            }
        }
    }
}
