import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

/// Tests that callers who want the same result at the same time share one call, and that the
/// cancellation of one caller does not affect the others.
@Suite(.timeLimit(.minutes(2))) struct `Work that callers share` {
    /// Starts a caller, and a second caller while the first one's call is held. Then cancels the
    /// first caller and lets the server answer.
    ///
    /// - Returns: The result of the second caller.
    private func share<Value: Sendable>(
        _ make: (Firestore) throws -> @Sendable () async throws -> Value
    ) async throws -> Value {
        let local = try LocalFirestore.start()
        let users = try local.firestore(label: "writer").collection("users")
        for name in ["ann", "ben", "cid"] {
            try await users.document(name).setData([
                "name": name, "at": local.now, "updatedAt": FieldValue.serverTimestamp(),
            ])
        }
        var environment = try local.firestore(label: "clock").environment
        let transport = HeldTransport(environment.transport)
        environment.transport = transport
        let device = try Firestore(
            projectID: local.projectID,
            settings: FirestoreSettings(cache: .memory, label: "device"), environment: environment)
        let work = try make(device)
        transport.hold()
        let first = Task { try await work() }
        await transport.untilHeld()
        let second = Task { try await work() }
        // The test cannot see whether the second caller has joined the call. It mostly has. In both
        // cases it must get its answer.
        for _ in 0..<100 { await Task.yield() }
        first.cancel()
        transport.letGo()
        let value = try await second.value
        await device.terminate()
        await local.stop()
        return value
    }

    @Test func `is a feed's sync`() async throws {
        let shown = try await share { device in
            let feed = try Feed(
                FeedDefinition(
                    query: device.collection("users"), itemTime: "at",
                    way: .changeTime("updatedAt", deletedField: nil)))
            return {
                try await feed.sync()
                return await feed.items.count
            }
        }
        #expect(shown == 3)
    }

    @Test func `is the details of a user`() async throws {
        let found = try await share { device in
            let details = try UserDetails(device.collection("users"))
            return { try await details.details(of: ["ann", "ben"]).count }
        }
        #expect(found == 2)
    }

    @Test func `is a search`() async throws {
        let found = try await share { device in
            let search = try UserSearch(device.collection("users"), field: "name")
            return { try await search.results(for: "an").documents.count }
        }
        #expect(found == 1)
    }

    @Test func `is who is online`() async throws {
        let found = try await share { device in
            let users = try OnlineUsers(device.collection("users"), seenAt: "at")
            return {
                try await users.refresh()
                return await users.users.count
            }
        }
        #expect(found == 3)
    }
}
