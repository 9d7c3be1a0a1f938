public import Synchronization

/// Shares one unit of work among concurrent callers with the same key.
///
/// The first caller for a key starts the work. Callers that arrive while it runs get its value or
/// its error too. A cancelled caller leaves immediately, and the work continues for the others;
/// when the last caller leaves, the work is cancelled. The result is not kept: a `SingleFlight` is
/// not a cache.
///
/// Inlinable, because a generic type that is not specialized where it is used looks up its types at
/// each call, which costs as much as all of its locks.
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The result for one caller.
    public struct Landing: Sendable {
        public let value: Value
        /// True if another caller had started the work.
        public let isShared: Bool

        @usableFromInline init(value: Value, isShared: Bool) {
            self.value = value
            self.isShared = isShared
        }
    }

    /// The maximum number of concurrent keys. Beyond it, each caller performs its own work.
    @inlinable public static var capacity: Int { 10_000 }

    /// The flights that a new caller can join.
    @usableFromInline let flights = Mutex<[Key: Flight]>([:])

    public init() {}

    /// The number of keys with work in progress.
    public var count: Int { flights.withLock { $0.count } }

    /// Returns the number of callers for a key.
    public func callers(for key: Key) -> Int {
        flights.withLock { $0[key] }?.callers ?? 0
    }

    /// Returns the value of the work for a key, which starts now or has been started by an earlier
    /// caller.
    ///
    /// - Throws: The error of `work`, to all of its callers; `CancellationError` to a caller that
    ///   is cancelled.
    @inlinable public func value(
        for key: Key, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await landing(for: key, work).value
    }

    /// Like ``value(for:_:)``, and also tells whether another caller had started the work.
    @inlinable public func landing(
        for key: Key, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Landing {
        try Task.checkCancellation()
        guard let place = join(key) else {
            return Landing(value: try await work(), isShared: false)
        }
        let flight = place.flight
        if place.isFirst {
            // No actor is blocked here, so the work begins on the current thread.
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
        // The result is the box that the task above made.
        let box = unsafeDowncast(landed, to: Box.self)
        return Landing(value: box.value, isShared: !place.isFirst)
    }

    /// Prevents further callers from joining the flight.
    @inlinable func close(_ flight: Flight, for key: Key) {
        flights.withLock { if $0[key] === flight { $0[key] = nil } }
    }

    // `@unchecked`: the class has a superclass, and holds a constant of a sendable type.
    @usableFromInline final class Box: Flight.Landed, @unchecked Sendable {
        @usableFromInline let value: Value

        @usableFromInline init(_ value: Value) { self.value = value }
    }

    /// - Returns: The flight; nil if ``capacity`` is reached.
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

    /// Makes the next caller start new work even if work for the key is in progress. Use it when
    /// the result of that work will be out of date. Callers that already wait still get that
    /// result.
    public func forget(_ key: Key) {
        flights.withLock { _ = $0.removeValue(forKey: key) }
    }
}
