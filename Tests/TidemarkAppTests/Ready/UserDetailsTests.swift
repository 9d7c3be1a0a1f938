import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

@Suite(.timeLimit(.minutes(2))) struct `Details of users` {
    private func world(
        _ body: (LocalFirestore, CollectionReference, Firestore) async throws -> Void
    ) async throws {
        let local = try LocalFirestore.start()
        let writer = try local.firestore(label: "writer").collection("users")
        let batch = writer.firestore.batch()
        for number in 0..<100 {
            batch.setData(["name": "User \(number)"], forDocument: writer.document("u\(number)"))
        }
        try await batch.commit()
        try await local.whileRunning {
            try await body($0, writer, try $0.firestore(label: "reader"))
        }
    }

    private let ids = (0..<100).map { "u\($0)" }

    @Test func `are read in batches once, kept, and read again when they are old`() async throws {
        try await world { local, writer, reader in
            let details = try UserDetails(reader.collection("users"))
            let first = try await details.details(of: ids + ids)
            #expect(first.count == 100 && first.error == nil)
            #expect(first["u7"]?.document?["name"] as? String == "User 7")
            #expect(local.reads(of: "reader") == 100)
            _ = try await details.details(of: ids)
            #expect(local.reads(of: "reader") == 100)
            try await writer.document("u7").updateData(["name": "Seven"])
            local.advance(by: .seconds(3_600))
            // A new object acts as the next launch on the same device.
            let again = try UserDetails(reader.collection("users"))
            let kept = try await again.details(of: ids)
            #expect(local.reads(of: "reader") == 100)
            #expect(kept["u7"]?.document?["name"] as? String == "User 7")
            #expect(kept["u7"]?.age == .seconds(3_600))
            local.advance(by: .seconds(86_400))
            #expect(
                try await again.details(of: ["u7"])["u7"]?.document?["name"] as? String == "Seven")
            #expect(local.reads(of: "reader") == 101)
        }
    }

    @Test func `that are missing are remembered too`() async throws {
        try await world { local, _, reader in
            let details = try UserDetails(reader.collection("users"))
            let found = try await details.details(of: ["u1", "nobody", "a/b"])
            #expect(found.count == 2 && found["nobody"]?.document == nil)
            #expect(local.reads(of: "reader") == 1)
            _ = try await details.details(of: ["u1", "nobody"])
            #expect(local.reads(of: "reader") == 1)
        }
    }

    @Test func `are asked for once by all who want them`() async throws {
        try await world { local, _, reader in
            let details = try UserDetails(reader.collection("users"))
            let ids = ids
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<10 {
                    group.addTask { try await details.details(of: ids).count }
                }
                for try await count in group { #expect(count == 100) }
            }
            #expect(local.reads(of: "reader") == 100)
        }
    }

    @Test func `come from the device without a server, with the reason`() async throws {
        try await world { local, _, reader in
            let details = try UserDetails(reader.collection("users"), maxAge: .zero)
            _ = try await details.details(of: ["u1"])
            await reader.disableNetwork()
            let offline = try await details.details(of: ["u1", "u2"])
            #expect(offline.error != nil)
            #expect(offline["u1"]?.document?["name"] as? String == "User 1")
            #expect(offline["u2"] == nil, "nothing is known of it")
        }
    }
}
