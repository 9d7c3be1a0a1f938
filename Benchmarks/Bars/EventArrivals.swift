import TidemarkWire

/// A host of functions in this process, which notes when each event arrives.
final class EventArrivals: Sendable {
    let port: Int
    private let serving: Task<Void, any Error>
    private let times: Times

    /// The times of arrival that were not taken yet. One task takes them.
    private final class Times: Sendable {
        let stream: AsyncStream<ContinuousClock.Instant>
        let input: AsyncStream<ContinuousClock.Instant>.Continuation

        init() { (stream, input) = AsyncStream.makeStream() }
    }

    private init(port: Int, serving: Task<Void, any Error>, times: Times) {
        self.port = port
        self.serving = serving
        self.times = times
    }

    static func start() async throws -> EventArrivals {
        let times = Times()
        let (ports, opened) = AsyncStream.makeStream(of: Int.self)
        let serving = Task {
            let server = GRPCServer(
                EmptyServer.withoutDocuments, host: "127.0.0.1", port: 0, access: nil,
                plain: { channel, _ in
                    EmptyHTTP.accept(channel) { times.input.yield(ContinuousClock().now) }
                })
            try await server.run { opened.yield($0) }
        }
        for await port in ports {
            return EventArrivals(port: port, serving: serving, times: times)
        }
        throw CancellationError()
    }

    /// Returns the time of the next arrival, and waits for it.
    func next() async -> ContinuousClock.Instant {
        var arrivals = times.stream.makeAsyncIterator()
        return await arrivals.next() ?? ContinuousClock().now
    }

    func stop() { serving.cancel() }
}
