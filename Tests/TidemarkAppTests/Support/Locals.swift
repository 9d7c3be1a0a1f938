import Tidemark
import TidemarkServer
import TidemarkTesting

extension LocalFirestore {
    /// Runs `body` and stops the server, also after an error.
    func whileRunning<Result>(
        _ body: (LocalFirestore) async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await body(self)
            await stop()
            return result
        } catch {
            await stop()
            throw error
        }
    }

    /// Runs `body` with a new server and a client of the server.
    static func withClient(
        _ body: (LocalFirestore, Firestore) async throws -> Void
    ) async throws {
        try await LocalFirestore.start().whileRunning { try await body($0, try $0.firestore()) }
    }

    /// Returns the number of reads that were billed to the client with this label.
    func reads(of label: String) -> Int {
        meter().first { $0.label == label }?.reads ?? 0
    }
}
