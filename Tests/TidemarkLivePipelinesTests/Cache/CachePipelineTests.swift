import Foundation
import Testing
import Tidemark
import TidemarkLivePipelines
import TidemarkTesting

/// Tests pipelines on the cache of a client, on a database of the Standard edition.
@Suite(.timeLimit(.minutes(2))) struct `Pipelines on the cache` {
    private func unread(_ firestore: Firestore) -> Pipeline {
        firestore.pipeline().collection("messages")
            .where(Field("isRead").equal(false))
            .aggregate([CountAll().as("unread")], groups: [Field("by")])
            .sort([Field("by").ascending()])
    }

    @Test func `group without a read, with pending writes, offline`() async throws {
        let devices = try Devices()
        try await devices.send(1...9)
        let device = devices.device
        let empty = try await unread(device).execute(source: .cache)
        #expect(empty.results.isEmpty)
        #expect(empty.freshness == .stale(age: nil, reason: .askedForCache))
        _ = try await device.collection("messages").getDocuments()
        let reads = devices.reads
        devices.local.advance(by: .seconds(60))
        let known = try await unread(device).execute(source: .cache)
        #expect(known.numbers("by", "unread") == ["p1": 3, "p2": 3])
        guard case .stale(let age?, .askedForCache) = known.freshness else {
            Issue.record("\(known.freshness)")
            return
        }
        #expect(age > .seconds(59) && age <= .seconds(60))
        #expect(known.metadata.isFromCache && !known.metadata.hasPendingWrites)
        await device.disableNetwork()
        _ = try await device.document("messages/m1").enqueueUpdateData(["isRead": true])
        _ = try await device.document("messages/m2").enqueueDelete()
        _ = try await device.document("messages/new").enqueueSetData(["by": "me", "isRead": false])
        let changed = try await unread(device).execute(source: .cache)
        #expect(changed.numbers("by", "unread") == ["me": 1, "p1": 2, "p2": 2])
        #expect(changed.metadata.hasPendingWrites)
        #expect(devices.reads == reads, "the cache is free")
        await devices.local.stop()
    }

    @Test func `read rows with their documents, in the order of an index`() async throws {
        let devices = try Devices()
        try await devices.send(1...9)
        _ = try await devices.device.collection("messages").getDocuments()
        let newest = try await devices.device.pipeline().collection("messages")
            .where(Field("n").greaterThan(2)).sort([Field("n").descending()]).offset(1).limit(2)
            .execute(source: .cache)
        #expect(newest.results.map(\.id) == ["m8", "m7"])
        #expect(newest.results.allSatisfy { $0.createTime != nil && $0.ref != nil })
        struct Message: Decodable, Equatable { var n: Int }
        let decoded = try await devices.device.pipeline().documents(["messages/m3", "messages/x"])
            .execute(as: Message.self, source: .cache)
        #expect(decoded == [Message(n: 3)])
        await devices.local.stop()
    }

    @Test func `see later changes when they are kept`() async throws {
        let devices = try Devices()
        try await devices.send(1...5)
        let device = devices.device
        _ = try await device.collection("messages").getDocuments()
        let newest = device.pipeline().collection("messages")
            .where(Field("n").greaterThan(0)).sort([Field("n").descending()]).limit(2)
        let before = try await newest.execute(source: .cache)
        #expect(before.results.map(\.id) == ["m5", "m4"])
        #expect(before.results.map { $0.get("size") as? Int } == [50, 40])
        let again = try await newest.execute(source: .cache)
        #expect(Set(again.results) == Set(before.results) && again.results == before.results)
        await device.disableNetwork()
        _ = try await device.document("messages/m9").enqueueSetData([
            "n": 9, "at": FieldValue.serverTimestamp(),
        ])
        let after = try await newest.execute(source: .cache)
        #expect(after.results.map(\.id) == ["m9", "m5"] && after.metadata.hasPendingWrites)
        #expect(after.results[0].get("at") as? Timestamp == devices.local.now)
        #expect(Set(after.results).isDisjoint(with: [before.results[1]]))
        await devices.local.stop()
    }

    /// More pipelines than the client keeps plans of. Each differs from the others in a constant,
    /// its type, or the spelling of a name.
    @Test func `have their own rows when they are made anew`() async throws {
        let devices = try Devices()
        try await devices.send(1...30)
        for (spelling, value) in [("e\u{301}", 1), ("\u{e9}", 2)] {
            try await devices.other.document("messages/m1").updateData([spelling: value])
        }
        let device = devices.device
        _ = try await device.collection("messages").getDocuments()
        let all = device.pipeline().collection("messages")
        for limit in [Int32](1...25) + [3, 25, 1] {
            let newest = try await all.where(Field("n").greaterThan(0))
                .sort([Field("n").descending()]).limit(limit).execute(source: .cache)
            #expect(newest.results.map(\.id) == (0..<limit).map { "m\(30 - $0)" })
        }
        for _ in 0..<2 {
            for (expression, text) in [
                (Constant(1), "int64"), (Constant(1.0), "float64"), (Constant("1"), "string"),
            ] {
                let typed = try await all.limit(1).select([expression.type().as("type")])
                    .execute(source: .cache)
                #expect(typed.results[0].get("type") as? String == text)
            }
            for (spelling, value) in [("e\u{301}", 1), ("\u{e9}", 2)] {
                let spelled = try await all.where(Field("n").equal(1))
                    .select([Field(spelling).as("x")]).execute(source: .cache)
                #expect(spelled.results[0].get("x") as? Int == value)
            }
        }
        await devices.local.stop()
    }

    @Test func `join collections in one state`() async throws {
        let devices = try Devices()
        try await devices.send(1...6)
        let device = devices.device
        for person in ["p0", "p1", "p2"] {
            try await device.document("people/\(person)").setData(["name": person.uppercased()])
        }
        _ = try await device.collection("messages").getDocuments()
        _ = try await device.collection("people").getDocuments()
        let sent = device.pipeline().collection("messages")
            .where(Field("by").equal(Variable("person")))
            .aggregate([Field("size").sum().as("size")])
        let people = try await device.pipeline().collection("people")
            .define([Field("__name__").documentId().as("person")])
            .select([Field("name"), sent.toScalarExpression().as("size")])
            .execute(source: .cache)
        #expect(people.numbers("name", "size") == ["P0": 90, "P1": 50, "P2": 70])
        let both = try await device.pipeline().collection("people")
            .union(with: device.pipeline().collection("messages").where(Field("n").lessThan(3)))
            .execute(source: .cache)
        #expect(Set(both.results.compactMap(\.id)) == ["p0", "p1", "p2", "m1", "m2"])
        try await device.document("people/p1/notes/a").setData(["n": 1])
        let notes = try await device.pipeline().collection("people")
            .addFields([
                Subcollection("notes").aggregate([CountAll().as("n")]).toScalarExpression()
                    .as("notes")
            ]).execute(source: .cache)
        #expect(notes.numbers("name", "notes") == ["P0": 0, "P1": 1, "P2": 0])
        await devices.local.stop()
    }

    @Test func `put the device's time for a server timestamp that is pending`() async throws {
        let devices = try Devices()
        let device = devices.device
        await device.disableNetwork()
        _ = try await device.document("messages/a").enqueueSetData([
            "at": FieldValue.serverTimestamp()
        ])
        let snapshot = try await device.pipeline().collection("messages")
            .select([Field("at").timestampToUnixSeconds().as("seconds")])
            .execute(source: .cache)
        #expect(snapshot.results.first?.data["seconds"] as? Int64 == devices.local.now.seconds)
        await devices.local.stop()
    }

    /// A condition on all documents is not a query's, so the whole database is read once.
    @Test func `read the same documents a second time`() async throws {
        let devices = try Devices()
        try await devices.send(1...3)
        let device = devices.device
        _ = try await device.collection("messages").getDocuments()
        let all = device.pipeline().database()
        let both = try await all.where(Field("n").greaterThan(2)).union(with: all)
            .execute(source: .cache)
        #expect(both.results.compactMap(\.id).sorted() == ["m1", "m2", "m3", "m3"])
        await devices.local.stop()
    }

    /// A query finds a pending server timestamp in no range, and puts it behind all others.
    @Test func `find and sort a pending server timestamp as the device's time`() async throws {
        let devices = try Devices()
        let device = devices.device
        let now = devices.local.now
        for (id, minutes) in [("old", -60), ("new", 60)] {
            try await devices.other.document("messages/\(id)").setData([
                "at": now.advanced(by: .seconds(minutes * 60)), "by": "other",
            ])
        }
        _ = try await device.collection("messages").getDocuments()
        await device.disableNetwork()
        _ = try await device.document("messages/own").enqueueSetData([
            "at": FieldValue.serverTimestamp(), "by": "me",
        ])
        let all = device.pipeline().collection("messages")
        let since = all.where(
            Field("at").greaterThan(Constant(now.advanced(by: .seconds(-600)))))
        let found = try await since.execute(source: .cache)
        #expect(Set(found.results.compactMap(\.id)) == ["own", "new"])
        let figures = try await since.aggregate([CountAll().as("n")], groups: [Field("by")])
            .execute(source: .cache)
        #expect(figures.numbers("by", "n") == ["me": 1, "other": 1])
        let newest = try await all.where(Field("at").exists()).sort([Field("at").descending()])
            .limit(2).execute(source: .cache)
        #expect(newest.results.compactMap(\.id) == ["new", "own"])
        let every = try await all.sort([Field("at").descending()]).limit(.max)
            .execute(source: .cache)
        #expect(every.results.compactMap(\.id) == ["new", "own", "old"])
        await devices.local.stop()
    }

    @Test func `answer where the server does not`() async throws {
        let devices = try Devices()
        try await devices.send(1...3)
        _ = try await devices.device.collection("messages").getDocuments()
        // A server of the Standard edition refuses. That is an error, and no reason to guess.
        let refused = await #expect(throws: FirestoreError.self) {
            try await unread(devices.device).execute(source: .default)
        }
        #expect(refused?.code == .failedPrecondition)
        await devices.device.disableNetwork()
        let offline = try await unread(devices.device).execute(source: .default)
        #expect(offline.numbers("by", "unread") == ["p1": 1, "p2": 1])
        #expect(!offline.freshness.isFresh)
        await devices.local.stop()
    }

    @Test func `are refused like by a server`() async throws {
        let devices = try Devices()
        let all = devices.device.pipeline().collection("messages")
        for (pipeline, words) in [
            (all.rawStage(name: "delete", params: []), "on the server alone"),
            (all.rawStage(name: "twist", params: []), "twist"),
            (all.aggregate([]), "requires at least one accumulator"),
            (all.select([FunctionExpression(functionName: "twist", args: []).as("x")]), "twist"),
        ] {
            let error = await #expect(throws: FirestoreError.self) {
                try await pipeline.execute(source: .cache)
            }
            #expect(error?.code == .invalidArgument)
            #expect(error?.detail.contains(words) == true, "\(error?.detail ?? "")")
        }
        let literals = try await devices.device.pipeline().database()
            .rawStage(name: "limit", params: [0]).execute(source: .cache)
        #expect(literals.results.isEmpty)
        await devices.local.stop()
    }
}
