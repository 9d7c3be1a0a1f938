import Foundation
import TidemarkServer

@testable import Tidemark

extension Firestore {
    /// Returns a client with the test's transport and the machine's clock and random source.
    static func testing(
        _ transport: any Transport, cache: FirestoreSettings.Cache = .memory,
        label: String? = nil, project: String = "projectID"
    ) throws -> Firestore {
        try Firestore(
            projectID: project,
            settings: FirestoreSettings(
                cache: cache, label: label, readDeadline: .seconds(5)),
            environment: .live(transport))
    }

    /// Runs `body` with a client on a server in this process, and closes both.
    static func withServer(_ body: (Firestore) async throws -> Void) async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let firestore = try Firestore.testing(server)
        do { try await body(firestore) } catch {
            await firestore.terminate()
            server.close()
            throw error
        }
        await firestore.terminate()
        server.close()
    }
}

/// A folder that is removed when the test ends.
final class TemporaryFolder {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
