package import TidemarkHTTP
package import TidemarkServer

extension NetworkGate {
    /// Switches to another network. A gate that refuses connections gives up its port, which
    /// another process may take for a moment. So the function retries for ten seconds.
    package func insist(on network: NetworkProfile) async throws {
        for _ in 0..<40 {
            do { return try await play(network) } catch {
                try await Task.sleep(for: .milliseconds(250))
            }
        }
        try await play(network)
    }
}
