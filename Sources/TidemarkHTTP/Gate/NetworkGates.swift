import TidemarkServer

/// The gates in front of a server's ports. All of them simulate the same network.
public struct NetworkGates: Sendable {
    /// The gate in front of the port for documents.
    public let firestore: NetworkGate
    /// The gate in front of the port for files; nil if the server has no such port.
    public let storage: NetworkGate?

    public init(firestore: NetworkGate, storage: NetworkGate?) {
        self.firestore = firestore
        self.storage = storage
    }

    /// Changes the network of all gates.
    ///
    /// - Parameter earlier: The network that the gates simulate now.
    /// - Throws: ``ControlServerError`` if a gate cannot listen again after a network that refuses
    ///   connections. All gates then simulate the earlier network again.
    func play(
        _ network: NetworkProfile, after earlier: NetworkProfile
    ) async throws(ControlServerError) {
        do throws(ControlServerError) {
            try await firestore.play(network)
            try await storage?.play(network)
        } catch {
            // Only a gate that refuses connections has to listen again, so this cannot fail.
            try? await firestore.play(earlier)
            try? await storage?.play(earlier)
            throw error
        }
    }

    public func close() async {
        await firestore.close()
        await storage?.close()
    }
}
