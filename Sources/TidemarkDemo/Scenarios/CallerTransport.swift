import TidemarkModel
import TidemarkWire

/// Calls on the device's network without a client: there is no cache and no retry.
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

    /// Returns the documents of a query.
    func documents(of query: Query) async throws -> [Document] {
        try await transport.documents(of: query, try place.context(label)).documents
    }

    /// Returns the median time of five calls that read a query's documents over an open connection.
    /// The meter counts them under the label `round-trip`.
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
