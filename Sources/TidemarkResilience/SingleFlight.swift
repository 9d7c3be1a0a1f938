public import Synchronization

/// Lets callers that want the same thing at the same time share one piece of work.
///
/// The first caller for a key starts it, those that come while it runs get its value or its error too.
/// A caller that is cancelled leaves at once, and the work goes on for the others; when the last one
/// leaves, it is cancelled. Nothing is kept when it ends: it is no cache.
///
/// Inlinable, because a generic type that is not known where it is used looks its types up at each call,
/// which costs as much as all of its locks.
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What one caller gets.
    public struct Landing: Sendable {
        public let value: Value
        /// Whether another caller had started it.
        public let isShared: Bool

        @usableFromInline init(value: Value, isShared: Bool) {
            self.value = value
            self.isShared = isShared
        }
    }

    /// Keys at the same time. Beyond, work is done for each caller alone.
    @inlinable public static var capacity: Int { 10_000 }

    /// Those that a new caller may join.
    @usableFromInline let flights = Mutex<[Key: Flight]>([:])

    public init() {}

    /// How many keys are worked on.
    public var count: Int { flights.withLock { $0.count } }

    /// How many wait for a key.
    public func callers(for key: Key) -> Int {
        flights.withLock { $0[key] }?.callers ?? 0
    }

    /// The value of the work for this key, begun now or by an earlier caller.
    ///
    /// - Throws: What `work` throws, to all of its callers; `CancellationError` to one that is
    ///   cancelled itself.
    @inlinable public func value(
        for key: Key, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await landing(for: key, work).value
    }

    /// As ``value(for:_:)``, and whether another caller had started it.
    @inlinable public func landing(
        for key: Key, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Landing {
        try Task.checkCancellation()
        guard let place = join(key) else {
            return Landing(value: try await work(), isShared: false)
        }
        let flight = place.flight
        if place.isFirst {
            // Here nobody's actor is held: the work begins on this very thread.
            let task = Task.begun {
                do {
                    let box = Box(try await work())
                    flight.end(.success(box)) { self.close(flight, for: key) }
                } catch {
                    flight.end(.failure(error)) { self.close(flight, for: key) }
                }
            }
            flight.carries(task)
        }
        let landed = try await flight.value(for: place.caller) { self.close(flight, for: key) }
        // A flight lands with the box that the work above made.
        let box = unsafeDowncast(landed, to: Box.self)
        return Landing(value: box.value, isShared: !place.isFirst)
    }

    /// Nobody can join it any more.
    @inlinable func close(_ flight: Flight, for key: Key) {
        flights.withLock { if $0[key] === flight { $0[key] = nil } }
    }

    // `@unchecked`: it inherits, and holds a constant of a sendable type.
    @usableFromInline final class Box: Flight.Landed, @unchecked Sendable {
        @usableFromInline let value: Value

        @usableFromInline init(_ value: Value) { self.value = value }
    }

    /// - Returns: Nil when there is too much under way.
    @inlinable func join(_ key: Key) -> (flight: Flight, caller: Int, isFirst: Bool)? {
        flights.withLock { flights in
            if let flight = flights[key], let caller = flight.join() {
                return (flight, caller, false)
            }
            if flights.count >= Self.capacity { return nil }
            let flight = Flight()
            flights[key] = flight
            return (flight, 0, true)
        }
    }

    /// Makes the next caller start anew, though work for the key is under way: for when what that will
    /// return is out of date already. Those who wait for it still get it.
    public func forget(_ key: Key) {
        flights.withLock { _ = $0.removeValue(forKey: key) }
    }
}
