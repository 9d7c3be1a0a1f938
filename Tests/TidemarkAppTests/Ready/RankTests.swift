import Foundation
import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

@Suite(.timeLimit(.minutes(2))) struct `A rank` {
    private func world(
        _ body: (LocalFirestore, CollectionReference, CollectionReference) async throws -> Void
    ) async throws {
        let local = try LocalFirestore.start()
        let writer = try local.firestore(label: "writer").collection("users")
        let reader = try local.firestore(label: "reader").collection("users")
        do {
            for number in 0..<30 {
                try await writer.document("u\(number)").setData(["totalStamps": number])
            }
            try await body(local, writer, reader)
        } catch {
            await local.stop()
            throw error
        }
        await local.stop()
    }

    @Test func `is counted, and nobody is downloaded`() async throws {
        try await world { local, _, users in
            let rank = try await users.rank(of: "u20", by: "totalStamps")
            #expect(rank.position == 10 && rank.value == 20 && rank.isFresh)
            #expect(local.meter().first { $0.label == "reader" }?.reads == 2)
        }
    }

    @Test func `is shared by those with as many`() async throws {
        try await world { _, writer, users in
            try await writer.document("u19").setData(["totalStamps": 20])
            #expect(try await users.rank(of: "u19", by: "totalStamps").position == 10)
            #expect(try await users.rank(of: "u20", by: "totalStamps").position == 10)
        }
    }

    @Test func `is shown offline, with its age, though one's own number has changed`() async throws
    {
        try await world { local, _, users in
            _ = try await users.rank(of: "u20", by: "totalStamps")
            await users.firestore.disableNetwork()
            _ = try await users.document("u20").enqueueSetData(["totalStamps": 21])
            let rank = try await users.rank(
                of: "u20", by: "totalStamps", within: .milliseconds(200))
            #expect(rank.position == 10 && rank.value == 21)
            guard case .stale(let age?, _) = rank.freshness else {
                Issue.record("it is not the server's word of now: \(rank.freshness)")
                return
            }
            #expect(age >= .zero)
        }
    }

    @Test func `that the device has costs no read, and is asked for no more`() async throws {
        try await world { local, writer, users in
            _ = try await users.document("u20").getDocument()
            do throws(FirestoreError) {
                _ = try await users.lastRank(of: "u20", by: "totalStamps")
                Issue.record("the device has no rank")
            } catch { #expect(error.code == .unavailable) }
            _ = try await users.rank(of: "u20", by: "totalStamps")
            try await writer.document("u0").setData(["totalStamps": 99])
            let reads = local.meter().first { $0.label == "reader" }?.reads
            for _ in 0..<10 {
                let last = try await users.lastRank(of: "u20", by: "totalStamps")
                #expect(last.position == 10 && last.value == 20 && !last.isFresh)
            }
            #expect(local.meter().first { $0.label == "reader" }?.reads == reads)
        }
    }

    @Test func `that was never known is an error offline, within its deadline`() async throws {
        try await world { _, _, users in
            _ = try await users.document("u3").getDocument()
            await users.firestore.disableNetwork()
            // Time passes here only when a test advances it, so an answer that waited for time
            // would never come.
            await #expect(throws: FirestoreError.self) {
                try await users.rank(of: "u3", by: "totalStamps", within: .milliseconds(200))
            }
        }
    }

    @Test func `needs a number, and somebody who is there`() async throws {
        try await world { _, writer, users in
            try await writer.document("u1").setData(["totalStamps": "many"])
            await #expect(throws: FirestoreError.self) {
                try await users.rank(of: "u1", by: "totalStamps")
            }
            do throws(FirestoreError) {
                _ = try await users.rank(of: "nobody", by: "totalStamps")
                Issue.record("nobody has a rank")
            } catch { #expect(error.code == .notFound) }
        }
    }

    @Test func `of any aggregation is the server's last one where it does not answer`() async throws
    {
        try await world { _, _, users in
            let query = users.whereField("totalStamps", isLessThan: 10)
                .aggregate([.count(), .sum("totalStamps")])
            let fresh = try await query.getAggregation(source: .default)
            #expect(fresh.count == 10 && fresh.freshness.isFresh)
            await users.firestore.disableNetwork()
            let old = try await query.getAggregation(
                source: .default, within: .milliseconds(200))
            #expect(old.count == 10 && old.get(.sum("totalStamps")) as? Int == 45)
            #expect(!old.freshness.isFresh)
            await #expect(throws: FirestoreError.self) {
                try await users.count.getAggregation(source: .default, within: .milliseconds(200))
            }
        }
    }

    @Test func `is of the last 64 aggregations`() async throws {
        try await world { _, _, users in
            for bound in 0..<66 {
                _ = try await users.whereField("totalStamps", isGreaterThan: bound).count
                    .getAggregation(source: .default)
            }
            await users.firestore.disableNetwork()
            let last = users.whereField("totalStamps", isGreaterThan: 65).count
            #expect(
                try await last.getAggregation(source: .default, within: .milliseconds(100)).count
                    == 0)
            await #expect(throws: FirestoreError.self) {
                try await users.whereField("totalStamps", isGreaterThan: 0).count
                    .getAggregation(source: .default, within: .milliseconds(100))
            }
        }
    }
}
