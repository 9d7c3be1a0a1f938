import Foundation
import Testing
import Tidemark
import TidemarkLivePipelines
import TidemarkTesting

/// Tests live pipelines of a client, on a database of the Standard edition.
@Suite(.timeLimit(.minutes(2))) struct `Live pipelines of a client` {
    private func unread(_ firestore: Firestore) -> Pipeline {
        firestore.pipeline().collection("messages")
            .where(Field("isRead").equal(false))
            .aggregate([CountAll().as("unread")], groups: [Field("by")])
    }

    @Test func `count by themselves, also offline`() async throws {
        let devices = try Devices()
        try await devices.send(1...9)
        let device = devices.device
        var snapshots = unread(device).snapshots().makeAsyncIterator()
        let begin = try await first(of: &snapshots) { $0.freshness.isFresh }
        #expect(begin.numbers("by", "unread") == ["p1": 3, "p2": 3])
        #expect(devices.reads == 6, "the listener's condition is the pipeline's")
        try await devices.other.document("messages/m1").updateData(["isRead": true])
        let read = try await first(of: &snapshots) { $0.numbers("by", "unread")["p1"] == 2 }
        #expect(read.numbers("by", "unread") == ["p1": 2, "p2": 3])
        await device.disableNetwork()
        _ = try await device.document("messages/m2").enqueueUpdateData(["isRead": true])
        _ = try await device.document("messages/mine").enqueueSetData([
            "by": "me", "isRead": false,
        ])
        let own = try await first(of: &snapshots) { $0.numbers("by", "unread")["me"] == 1 }
        #expect(own.numbers("by", "unread") == ["p1": 2, "p2": 2, "me": 1])
        #expect(own.metadata.hasPendingWrites && own.metadata.isFromCache)
        await device.enableNetwork()
        try await device.waitForPendingWrites()
        try await devices.other.document("messages/m4").delete()
        let end = try await first(of: &snapshots) { $0.numbers("by", "unread")["p1"] == 1 }
        #expect(end.numbers("by", "unread") == ["p1": 1, "p2": 2, "me": 1])
        await devices.local.stop()
    }

    @Test func `show the newest rows of a limit`() async throws {
        let devices = try Devices()
        try await devices.send(1...5)
        let newest = devices.device.pipeline().collection("messages")
            .where(Field("n").greaterThan(0)).sort([Field("n").descending()]).limit(2)
            .select([Field("n"), Field("size").divide(10).as("tens")])
        var snapshots = newest.snapshots().makeAsyncIterator()
        let begin = try await first(of: &snapshots) { $0.freshness.isFresh }
        #expect(begin.results.map { $0.data["tens"] as? Int } == [5, 4])
        #expect(devices.reads == 2, "the limit is the listener's")
        try await devices.send(6...6)
        let more = try await first(of: &snapshots) { $0.results.first?.data["n"] as? Int == 6 }
        #expect(more.results.map { $0.data["tens"] as? Int } == [6, 5])
        await devices.local.stop()
    }

    @Test func `follow both sides of a join`() async throws {
        let devices = try Devices()
        try await devices.send(1...3)
        try await devices.other.document("people/p1").setData(["name": "Ada"])
        let device = devices.device
        let sent = device.pipeline().collection("messages")
            .where(Field("by").equal(Variable("person"))).aggregate([CountAll().as("n")])
        let people = device.pipeline().collection("people")
            .define([Field("__name__").documentId().as("person")])
            .select([Field("name"), sent.toScalarExpression().as("sent")])
        var snapshots = people.snapshots().makeAsyncIterator()
        let begin = try await first(of: &snapshots) { $0.freshness.isFresh }
        #expect(begin.numbers("name", "sent") == ["Ada": 1])
        try await devices.send(4...4)
        _ = try await first(of: &snapshots) { $0.numbers("name", "sent") == ["Ada": 2] }
        try await devices.other.document("people/p2").setData(["name": "Bo"])
        _ = try await first(of: &snapshots) {
            $0.numbers("name", "sent") == ["Ada": 2, "Bo": 1]
        }
        await devices.local.stop()
    }

    @Test func `listen to the cache without a read, and to documents by name`() async throws {
        let devices = try Devices()
        let device = devices.device
        await device.disableNetwork()
        _ = try await device.document("messages/a").enqueueSetData(["by": "me", "isRead": false])
        var cached = unread(device).snapshots(source: .cache).makeAsyncIterator()
        let begin = try await first(of: &cached) { !$0.results.isEmpty }
        #expect(begin.freshness == .stale(age: nil, reason: .askedForCache))
        let named = device.pipeline().documents(["messages/a", "messages/b"])
        var documents = named.snapshots(source: .cache).makeAsyncIterator()
        let one = try await first(of: &documents) { $0.results.count == 1 }
        #expect(one.results[0].id == "a")
        _ = try await device.document("messages/b").enqueueSetData(["by": "me"])
        _ = try await first(of: &documents) { $0.results.count == 2 }
        #expect(devices.reads == 0)
        await devices.local.stop()
    }

    @Test func `take the device's time for a pending server timestamp`() async throws {
        let devices = try Devices()
        let device = devices.device
        let begin = Timestamp(seconds: 1_600_000_000, nanoseconds: 0)
        for n in 1...3 {
            try await devices.other.document("notes/n\(n)").setData([
                "at": begin.advanced(by: .seconds(n)), "by": "p\(n)",
            ])
        }
        let notes = device.pipeline().collection("notes").where(Field("at").greaterThan(begin))
        let newest = notes.sort([Field("at").descending()]).limit(2)
        let counted = notes.aggregate([CountAll().as("n")], groups: [Field("by")])
        var rows = newest.snapshots(includeMetadataChanges: true).makeAsyncIterator()
        var counts = counted.snapshots().makeAsyncIterator()
        _ = try await first(of: &rows) { $0.freshness.isFresh && $0.results.count == 2 }
        _ = try await first(of: &counts) { $0.numbers("by", "n").count == 3 }
        await device.disableNetwork()
        _ = try await device.document("notes/mine").enqueueSetData([
            "at": FieldValue.serverTimestamp(), "by": "me",
        ])
        let own = try await first(of: &rows) { $0.results.map(\.id) == ["mine", "n3"] }
        #expect(own.metadata.hasPendingWrites)
        _ = try await first(of: &counts) { $0.numbers("by", "n")["me"] == 1 }
        // The row leaves both before the server knows it, and n2 is there again.
        _ = try await device.document("notes/mine").enqueueDelete()
        _ = try await first(of: &rows) { $0.results.map(\.id) == ["n3", "n2"] }
        _ = try await first(of: &counts) { $0.numbers("by", "n")["me"] == nil }
        _ = try await device.document("notes/n1").enqueueUpdateData([
            "at": FieldValue.serverTimestamp()
        ])
        _ = try await first(of: &rows) { $0.results.map(\.id) == ["n1", "n3"] }
        await device.enableNetwork()
        _ = try await first(of: &rows) {
            $0.results.map(\.id) == ["n1", "n3"] && !$0.metadata.hasPendingWrites
                && $0.freshness.isFresh
        }
        await devices.local.stop()
    }

    /// The listener's query does not match the time that the server has not set, so the listener
    /// itself has nothing to say when the user leaves.
    @Test func `show no other user a pending server timestamp`() async throws {
        let devices = try Devices()
        let device = devices.device
        let end = Timestamp(seconds: 4_000_000_000, nanoseconds: 0)
        let notes = device.pipeline().collection("notes").where(Field("at").lessThan(end))
        try await device.changeUser(to: "ann")
        var rows = notes.snapshots().makeAsyncIterator()
        _ = try await first(of: &rows) { $0.freshness.isFresh }
        await device.disableNetwork()
        _ = try await device.document("notes/ann").enqueueSetData([
            "at": FieldValue.serverTimestamp()
        ])
        _ = try await first(of: &rows) { $0.results.map(\.id) == ["ann"] }
        try await device.changeUser(to: "bob")
        _ = try await first(of: &rows) { $0.results.isEmpty }
        try await device.changeUser(to: "ann")
        _ = try await first(of: &rows) { $0.results.map(\.id) == ["ann"] }
        await devices.local.stop()
    }

    @Test func `end with an error, and say what cannot be live`() async throws {
        let devices = try Devices()
        let all = devices.device.pipeline().collection("messages")
        let mistakes: [(Pipeline, String)] = [
            (all.rawStage(name: "delete", params: []), "on the server alone"),
            (all.rawStage(name: "twist", params: []), "twist"),
            (Subcollection("x"), "without a database"),
        ]
        for (pipeline, words) in mistakes {
            var snapshots = pipeline.snapshots().makeAsyncIterator()
            let error = await #expect(throws: FirestoreError.self) {
                _ = try await snapshots.next()
            }
            #expect(error?.detail.contains(words) == true, "\(error?.detail ?? "")")
        }
        try await devices.send(1...1)
        var failing = all.select([Field("by").add(1).as("x")]).snapshots().makeAsyncIterator()
        let error = await #expect(throws: FirestoreError.self) {
            while try await failing.next()?.results.isEmpty == true {}
        }
        #expect(error?.code == .invalidArgument)
        #expect(try await failing.next() == nil)
        await devices.local.stop()
    }
}
