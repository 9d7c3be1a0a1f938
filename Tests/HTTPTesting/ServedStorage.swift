package import TidemarkHTTP
package import TidemarkObjects
import TidemarkTesting

/// Serves the storage port of `tidemark serve` on a separate thread, while `body` runs.
///
/// - Parameters:
///   - port: The port; 0 for a free one.
///   - body: Called once, with the address and the port. An error of `body` ends the server and is
///     rethrown.
package func serve(
    _ server: ObjectsServer, port: Int = 0,
    _ body: @escaping @Sendable (_ address: String, _ port: Int) async throws -> Void
) async throws {
    let (ports, input) = AsyncStream.makeStream(of: Int.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask(executorPreference: ServingThread("tidemark.test-storage")) {
            defer { input.finish() }
            try await server.run(host: "127.0.0.1", port: port) { input.yield($0) }
        }
        for await port in ports {
            try await body("http://127.0.0.1:\(port)", port)
            break
        }
        group.cancelAll()
        try await group.waitForAll()
    }
}

extension ObjectsServer {
    /// Returns all objects of a bucket.
    package func objects(in bucket: String = "bucket") async throws -> [StoredObject] {
        let buckets = try await bucketNames()
        if !buckets.contains(bucket) { return [] }
        return try await page(ObjectListing(bucket: bucket)).objects
    }
}
