#if canImport(Combine)
    public import Combine
    import Synchronization

    /// Publishes the values of an asynchronous sequence: `SequencePublisher { feed.states }`.
    ///
    /// Each subscriber has a separate iteration, which begins with the first requested value and
    /// ends with a cancellation. A slow subscriber skips the values that the sequence skips: of
    /// snapshots and states it gets the newest. Values arrive on a thread of Swift's pool: for a
    /// screen, use `receive(on: DispatchQueue.main)`.
    public struct SequencePublisher<Base: AsyncSequence & Sendable>: Publisher
    where Base.Element: Sendable {
        public typealias Output = Base.Element
        public typealias Failure = Base.Failure

        private let make: @Sendable () -> Base

        /// - Parameter make: Creates a sequence for each subscriber.
        public init(_ make: @escaping @Sendable () -> Base) { self.make = make }

        public func receive<S: Subscriber>(subscriber: S)
        where S.Input == Output, S.Failure == Failure {
            let subscription = SequenceSubscription<Base>(
                receive: { subscriber.receive($0) }, end: { subscriber.receive(completion: $0) })
            subscriber.receive(subscription: subscription)
            subscription.start(make)
        }
    }

    private final class SequenceSubscription<Base: AsyncSequence & Sendable>:
        Subscription,
        // A single task calls the subscriber, after the subscriber has received its subscription.
        @unchecked Sendable
    where Base.Element: Sendable {
        private let receive: (Base.Element) -> Subscribers.Demand
        private let end: (Subscribers.Completion<Base.Failure>) -> Void
        private let gate = DemandGate()
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(
            receive: @escaping (Base.Element) -> Subscribers.Demand,
            end: @escaping (Subscribers.Completion<Base.Failure>) -> Void
        ) {
            self.receive = receive
            self.end = end
        }

        func start(_ make: @escaping @Sendable () -> Base) {
            let iterating = Task { await iterate(make) }
            task.withLock { $0 = iterating }
        }

        private func iterate(_ make: @Sendable () -> Base) async {
            do throws(Base.Failure) {
                guard await gate.take() else { return }
                var iterator = make().makeAsyncIterator()
                while let value = try await iterator.next(isolation: nil) {
                    if Task.isCancelled { return }
                    gate.request(receive(value).max)
                    guard await gate.take() else { return }
                }
                if !Task.isCancelled { end(.finished) }
            } catch {
                if !Task.isCancelled { end(.failure(error)) }
            }
        }

        func request(_ demand: Subscribers.Demand) { gate.request(demand.max) }

        func cancel() {
            gate.close()
            task.withLock { $0 }?.cancel()
        }
    }
#endif
