import TidemarkModel
import TidemarkWire

/// Calls on the device's network without a client: no cache, nothing tried again.
struct CallerTransport: Sendable {
    private let transport: GRPCTransport
    private let place: DemoPlace
    private let label: String

    init(_ visit: Visit) {
        transport = GRPCTransport(
            .init(host: "127.0.0.1", port: visit.place.port, usesTLS: false))
        place = visit.place
        label = visit.label
    }

    /// The documents of a query, or why not.
    func documents(of query: Query) async throws -> [Document] {
        try await transport.documents(of: query, try place.context(label)).documents
    }

    /// What it takes to ask for a query's documents once and to hear them all, on a connection that is
    /// there: the median of five. On the meter under a label of its own.
    func roundTrip(of query: Query) async throws -> Duration {
        var trips: [Duration] = []
        for _ in 0..<6 {
            let start = ContinuousClock.now
            _ = try await transport.documents(of: query, try place.context("round-trip"))
            trips.append(.now - start)
        }
        return trips.dropFirst().sorted()[2]
    }

    func close() async { await transport.close() }
}
