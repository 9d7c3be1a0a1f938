import Combine
import Synchronization
import Testing
import Tidemark

/// Requests values and stores them.
private final class Asking<Input: Sendable, Failure: Error>: Subscriber, Sendable {

    // The property is set by one publisher, before any value arrives.
    nonisolated(unsafe) private var subscription: (any Subscription)?
    private let state = Mutex((values: [Input](), ends: [Failure?]()))

    var values: [Input] { state.withLock(\.values) }
    var ends: [Failure?] { state.withLock(\.ends) }

    func ask(_ demand: Subscribers.Demand) { subscription?.request(demand) }
    func cancel() { subscription?.cancel() }

    func receive(subscription: any Subscription) { self.subscription = subscription }
    func receive(_ input: Input) -> Subscribers.Demand {
        state.withLock { $0.values.append(input) }
        return .none
    }
    func receive(completion: Subscribers.Completion<Failure>) {
        state.withLock { state in
            switch completion {
            case .finished: state.ends.append(nil)
            case .failure(let error): state.ends.append(error)
            }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `Publishers of Combine` {
    private func until(_ isThere: () -> Bool) async throws {
        while !isThere() { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test func `give a subscriber each snapshot, and end the listener with it`() async throws {
        let firestore = Firestore()
        let cities = firestore.collection("cities")
        firestore.stubTell("cities", .success(["a": "1"]))
        let seen = Mutex<[[String]]>([])
        let subscription = cities.snapshotPublisher()
            .sink(receiveCompletion: { _ in }) { snapshot in
                seen.withLock { $0.append(snapshot.documents.map(\.reference.path)) }
            }
        try await until { seen.withLock(\.count) == 1 }
        #expect(firestore.stubListeners("cities") == 1)
        firestore.stubTell("cities", .success(["a": "1", "b": "2"]))
        try await until { seen.withLock(\.count) == 2 }
        #expect(seen.withLock { $0 } == [["cities/a"], ["cities/a", "cities/b"]])
        subscription.cancel()
        try await until { firestore.stubListeners("cities") == 0 }
    }

    @Test func `listen when a value is asked for, and give as many as are`() async throws {
        let firestore = Firestore()
        firestore.stubTell("cities/a", .success(["": "1"]))
        let publisher = firestore.document("cities/a").snapshotPublisher()
        let asking = Asking<DocumentSnapshot, any Error>()
        publisher.receive(subscriber: asking)
        #expect(firestore.stubListeners("cities/a") == 0)
        asking.ask(.max(1))
        try await until { asking.values.count == 1 }
        firestore.stubTell("cities/a", .success([:]))
        #expect(asking.values.count == 1 && asking.values[0].exists)
        asking.ask(.max(1))
        try await until { asking.values.count == 2 }
        #expect(!asking.values[1].exists)
        asking.cancel()
        try await until { firestore.stubListeners("cities/a") == 0 }
        #expect(asking.ends.isEmpty, "who cancels hears no more")
    }

    @Test func `fail as the listener does`() async throws {
        let firestore = Firestore()
        let asking = Asking<QuerySnapshot, any Error>()
        firestore.collection("cities").snapshotPublisher().receive(subscriber: asking)
        asking.ask(.unlimited)
        try await until { firestore.stubListeners("cities") == 1 }
        firestore.stubTell("cities", .failure(FirestoreError(.cancelled)))
        try await until { asking.ends.count == 1 }
        #expect(asking.ends[0] as? FirestoreError == FirestoreError(.cancelled))
        try await until { firestore.stubListeners("cities") == 0 }
    }

    @Test func `finish where a sequence does, for each subscriber by itself`() async throws {
        let publisher = SequencePublisher {
            AsyncStream<Int> { input in
                input.yield(1)
                input.finish()
            }
        }
        let subscribers = [Asking<Int, Never>(), Asking<Int, Never>()]
        for subscriber in subscribers {
            publisher.receive(subscriber: subscriber)
            subscriber.ask(.unlimited)
        }
        for subscriber in subscribers {
            try await until { subscriber.ends.count == 1 }
            #expect(subscriber.values == [1])
        }
    }
}
