import Synchronization

/// New samples of a kind, which a source has announced and which are not stored yet.
public struct HealthUpdate: Sendable {
    public let kind: HealthKind
    private let whenStored: @Sendable () -> Void

    /// - Parameters:
    ///   - kind: The kind of the samples.
    ///   - whenStored: Called when the samples are stored: tells the source that the app is done.
    public init(_ kind: HealthKind, whenStored: @escaping @Sendable () -> Void = {}) {
        self.kind = kind
        self.whenStored = whenStored
    }

    /// Tells the source that the samples are stored. From then on, the system may suspend an app
    /// that it woke for them. Without this call, HealthKit wakes the app again later.
    public func stored() { whenStored() }
}

/// The updates that wait for a reader: one for each kind, in the order of their arrival.
final class HealthUpdates: Sendable {
    private struct State {
        var kinds: [HealthKind] = []
        /// The completions of the announcements of each waiting kind.
        var completions: [HealthKind: [@Sendable () -> Void]] = [:]
        var reader: CheckedContinuation<HealthUpdate?, Never>?
        var hasEnded = false
        var whenReleased: (@Sendable () -> Void)?

        mutating func next() -> HealthUpdate? {
            guard !kinds.isEmpty else { return nil }
            let kind = kinds.removeFirst()
            let completions = completions.removeValue(forKey: kind) ?? []
            return HealthUpdate(kind) { for completion in completions { completion() } }
        }
    }

    private let state = Mutex(State())

    deinit { state.withLock { $0.whenReleased.take() }?() }

    /// Sets the function that stops the announcements, when no reader is left.
    func whenReleased(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.whenReleased = body }
    }

    /// Adds an announcement. A kind that waits already keeps its place, and its update completes
    /// all of its announcements.
    func add(_ kind: HealthKind, whenStored: @escaping @Sendable () -> Void) {
        let (reader, update) = state.withLock { state in
            if state.completions[kind] == nil { state.kinds.append(kind) }
            state.completions[kind, default: []].append(whenStored)
            guard let reader = state.reader.take() else {
                return (nil, nil) as (CheckedContinuation<HealthUpdate?, Never>?, HealthUpdate?)
            }
            return (reader, state.next())
        }
        reader?.resume(returning: update)
    }

    /// The updates from now on, for one reader. They end with the reader's task; when the stream is
    /// released, the announcements stop.
    var stream: AsyncStream<HealthUpdate> {
        AsyncStream {
            await self.next()
        } onCancel: {
            self.end()
        }
    }

    private func next() async -> HealthUpdate? {
        await withCheckedContinuation { continuation in
            let (isReady, update) = state.withLock { state in
                if state.hasEnded { return (true, nil) as (Bool, HealthUpdate?) }
                if let update = state.next() { return (true, update) }
                state.reader = continuation
                return (false, nil)
            }
            if isReady { continuation.resume(returning: update) }
        }
    }

    private func end() {
        state.withLock { state in
            state.hasEnded = true
            return state.reader.take()
        }?.resume(returning: nil)
    }
}
