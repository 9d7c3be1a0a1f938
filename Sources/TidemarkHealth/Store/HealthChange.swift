import Synchronization

/// The hours that can differ from their earlier state.
public struct HealthChange: Hashable, Sendable {
    /// The local days of each kind, with one more day at either end: as far as zones reach.
    public private(set) var days: [HealthKind: Set<HealthDay>] = [:]

    public init() {}

    public var kinds: Set<HealthKind> { Set(days.keys) }
    public var isEmpty: Bool { days.isEmpty }

    mutating func add(_ kind: HealthKind, _ days: Set<HealthDay>) {
        self.days[kind, default: []].formUnion(days)
    }

    mutating func formUnion(_ other: HealthChange) {
        days.merge(other.days) { $0.union($1) }
    }
}

extension HealthStore {
    /// The changes from now on, until the stream is dropped: by imports, samples, deletions and
    /// received hours.
    ///
    /// Changes are collected and delivered together, so thousands of samples refresh a screen a few
    /// times. A slow reader misses nothing: it gets all changes since its last read. Use one loop
    /// for each call.
    ///
    /// - Parameters:
    ///   - pause: The time from the first change until the collected changes are delivered.
    ///   - clock: Measures the pause.
    public func changes(
        every pause: Duration = .milliseconds(500), clock: any Clock<Duration> = ContinuousClock()
    ) -> AsyncStream<HealthChange> {
        let (signals, input) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let collected = CollectedChange()
        let observation = observe { change in
            collected.add(change)
            input.yield()
        }
        return AsyncStream {
            for await _ in signals {
                try? await clock.sleep(for: pause)
                if Task.isCancelled { break }
                if let change = collected.take() { return change }
            }
            withExtendedLifetime(observation) {}
            return nil
        }
    }
}

/// Grows to the days that there are, and no further.
private final class CollectedChange: Sendable {
    private let change = Mutex(HealthChange())

    func add(_ other: HealthChange) { change.withLock { $0.formUnion(other) } }

    func take() -> HealthChange? {
        change.withLock { change in
            defer { change = HealthChange() }
            return change.isEmpty ? nil : change
        }
    }
}
