import Dispatch

extension Firestore {
    /// Calls `listener` once now, and then whenever listeners have been given snapshots: all of them
    /// have seen the same changes then, so that what they show fits together.
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
