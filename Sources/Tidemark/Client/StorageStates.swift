import Dispatch

extension Firestore {
    /// Whether this device can store data: the present state at once, then every change. Ends when
    /// the loop is left. While it is `failing`, reads are answered where they can be, writes are
    /// refused with the reason, and storing is tried again until it succeeds; nothing has to be
    /// restarted.
    public var storageStates: AsyncStream<StorageState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { input in
            let handle = engine.observeStorage { input.yield($0) }
            input.onTermination = { _ in handle.cancel() }
        }
    }

    /// As ``storageStates``, for callers with closures.
    public func addStorageStateListener(
        _ listener: @escaping @Sendable (StorageState) -> Void
    ) -> any ListenerRegistration {
        let queue = callbackQueue
        return Observation { isRemoved in
            engine.observeStorage { state in
                queue.async { if !isRemoved() { listener(state) } }
            }
        }
    }
}
