package import TidemarkHTTP
package import TidemarkServer

extension NetworkGate {
    /// Plays another network. One that refuses gives its port up, and somebody else may have it for a
    /// moment: it is asked for again, for ten seconds.
    package func insist(on network: NetworkProfile) async throws {
        for _ in 0..<40 {
            do { return try await play(network) } catch {
                try await Task.sleep(for: .milliseconds(250))
            }
        }
        try await play(network)
    }
}
