import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkLivePipelines
import TidemarkServer
import TidemarkTesting

/// Searches on the cache of a client, with a word index and without.
@Suite(.timeLimit(.minutes(2))) struct `A search on the device` {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("search-" + UUID().uuidString)

    private func fill(_ firestore: Firestore) async {
        await withCheckedContinuation { done in firestore.engine.finishIndexes { done.resume() } }
    }

    private func search(_ firestore: Firestore, _ query: String) async throws -> Pipeline.Snapshot {
        try await firestore.pipeline().collection("notes").search(query: query)
            .execute(source: .cache)
    }

    @Test func `finds what the tests' own search finds, with pending writes and after restarts`()
        async throws
    {
        defer { try? FileManager.default.removeItem(at: folder) }
        let local = try LocalFirestore.start()
        let other = try local.firestore(label: "other")
        var device = try local.firestore(label: "device", cache: .directory(folder.path))
        var (dice, oracle) = (SearchDice(seed: 5), SearchOracle())
        for n in 0..<60 {
            oracle.texts["d\(n)"] = dice.text()
            try await other.document("notes/d\(n)").setData([
                "text": oracle.texts["d\(n)"]!, "other": "abc",
            ])
        }
        _ = try await device.collection("notes").getDocuments()
        await device.disableNetwork()
        try await device.setWordIndexes([WordIndex(collectionID: "notes", fields: ["text"])])
        var (found, indexed) = (0, 0)
        for round in 0..<300 {
            if round == 40 { await fill(device) }
            if round % 60 == 59 {
                await device.terminate()
                device = try local.firestore(label: "device", cache: .directory(folder.path))
                await device.disableNetwork()
            }
            if dice.chance(40) {
                let id = "d\(dice.number(0...79))"
                if dice.chance(30) {
                    oracle.texts[id] = nil
                    _ = try await device.document("notes/\(id)").enqueueDelete()
                } else {
                    oracle.texts[id] = dice.text()
                    _ = try await device.document("notes/\(id)").enqueueSetData([
                        "text": oracle.texts[id]!, "other": "abc",
                    ])
                }
            }
            let query = dice.query()
            let snapshot = try await search(device, query)
            let ids = snapshot.results.compactMap(\.id)
            try #require(
                Set(ids) == oracle.search(query) && ids.count == Set(ids).count,
                "round \(round): \(query)")
            found += ids.count
            if snapshot.searched.first?.usesIndex == true { indexed += 1 }
        }
        #expect(found > 500 && indexed > 200, "\(found) \(indexed)")
        let manager = try #require(device.persistentCacheIndexManager)
        let listed = try await manager.wordIndexes()
        #expect(listed.count == 1 && listed[0].isReady && listed[0].index.fields == ["text"])
        await local.stop()
    }

    @Test func `says what it looked at`() async throws {
        let devices = try Devices()
        let device = devices.device
        for (id, text) in [("a", "Café au lait"), ("b", "Black coffee")] {
            try await devices.other.document("notes/\(id)").setData([
                "text": text, "by": ["name": "Lait"],
            ])
        }
        let empty = try await search(device, "cafe").searched
        #expect(
            empty.first.map { [$0.collection] + $0.fields } == ["notes"]
                && empty.first?.completeAt == nil)
        _ = try await device.collection("notes").getDocuments()
        // A search without an index looks at all texts of a document.
        #expect(try await search(device, "LAIT").results.count == 2)
        let reads = devices.reads
        try await device.setWordIndexes([WordIndex(collectionID: "notes", fields: ["text"])])
        let whole = try await search(device, "lait")
        #expect(whole.results.compactMap(\.id) == ["a"] && whole.searched.first?.usesIndex == false)
        await fill(device)
        let known = try await search(device, "cafe lait")
        let searched = try #require(known.searched.first)
        #expect(known.results.compactMap(\.id) == ["a"])
        #expect(searched.usesIndex && searched.fields == ["text"] && searched.completeAt != nil)
        try await device.setWordIndexes([WordIndex(collectionID: "notes", fields: ["by.name"])])
        #expect(try await search(device, "lait").results.count == 2)
        await fill(device)
        #expect(try await search(device, "lait").searched.first?.usesIndex == true)
        #expect(try await search(device, "coffee").results.isEmpty)
        #expect(devices.reads == reads, "the cache is free")
        await devices.local.stop()
    }

    @Test func `gives ranks, orders, groups of collections and other stages`() async throws {
        let devices = try Devices()
        let device = devices.device
        try await device.setWordIndexes([WordIndex(collectionID: "notes", fields: ["text"])])
        for (room, text) in [("a", "tea"), ("b", "tea tea"), ("c", "coffee")] {
            try await device.document("rooms/\(room)/notes/n").setData(["text": text, "n": 1])
        }
        await fill(device)
        let all = device.pipeline().collectionGroup("notes").search(
            query: DocumentMatches("te*"), addFields: [Score().as("score")])
        let best = try await all.limit(1).execute(source: .cache)
        #expect(best.results.compactMap { $0.ref?.path } == ["rooms/b/notes/n"])
        #expect(best.results.first?.data["score"] as? Double ?? 0 > 0)
        #expect(best.searched.first?.usesIndex == true)
        let one = try await device.pipeline().collection("rooms/a/notes").search(query: "tea")
            .execute(source: .cache)
        #expect(one.results.compactMap { $0.ref?.path } == ["rooms/a/notes/n"])
        let counted = try await all.aggregate([CountAll().as("n")]).execute(source: .cache)
        #expect(counted.results.first?.data["n"] as? Int == 2)
        await devices.local.stop()
    }

    @Test func `stays with its user, and the next user's cache gets the index too`() async throws {
        let devices = try Devices()
        let device = devices.device
        try await device.changeUser(to: "ann")
        try await device.setWordIndexes([WordIndex(collectionID: "notes", fields: ["text"])])
        try await device.document("notes/a").setData(["text": "tea", "by": "milk"])
        #expect(try await search(device, "tea").results.count == 1)
        try await device.changeUser(to: "ben")
        #expect(try await search(device, "tea").results.isEmpty)
        try await device.document("notes/b").setData(["text": "tea", "by": "milk"])
        // The declaration counts before the new cache has the index.
        #expect(try await search(device, "milk").results.isEmpty)
        try await until {
            await fill(device)
            return try await search(device, "tea").searched.first?.usesIndex == true
        }
        #expect(try await search(device, "tea").results.compactMap(\.id) == ["b"])
        await devices.local.stop()
    }

    @Test func `refuses wrong indexes and forms by name`() async throws {
        let devices = try Devices()
        let device = devices.device
        let wrong: [([WordIndex], String)] = [
            ([WordIndex(collectionID: "a/b", fields: ["x"])], "a/b"),
            ([WordIndex(collectionID: "notes", fields: [])], "1 to 10 fields"),
            ([WordIndex(collectionID: "notes", fields: ["x", "x"])], "each once"),
            (
                [
                    WordIndex(collectionID: "notes", fields: ["x"]),
                    WordIndex(collectionID: "notes", fields: ["y"]),
                ], "one word index"
            ),
            (
                (0...WordIndex.maxCount).map { WordIndex(collectionID: "c\($0)", fields: ["x"]) },
                "at most 20"
            ),
        ]
        for (indexes, text) in wrong {
            let error = await #expect(throws: FirestoreError.self) {
                try await device.setWordIndexes(indexes)
            }
            #expect("\(error as Any)".contains(text), "\(error as Any)")
        }
        let refused = await #expect(throws: FirestoreError.self) {
            try await search(device, "tea OR coffee")
        }
        #expect("\(refused as Any)".contains("OR"))
        await devices.local.stop()
    }

    @Test func `knows beginnings of words, which a server refuses`() async throws {
        var configuration = FirestoreServer.Configuration()
        configuration.editions = DatabaseEditions(.enterprise)
        let local = try LocalFirestore.start(configuration: configuration)
        let device = try local.firestore()
        try await device.document("notes/a").setData(["text": "Blue teapot"])
        let pipeline = device.pipeline().collection("notes").search(query: "te*")
        #expect(try await pipeline.execute(source: .cache).results.count == 1)
        let refused = await #expect(throws: FirestoreError.self) { try await pipeline.execute() }
        #expect("\(refused as Any)".contains("te*"))
        let whole = device.pipeline().collection("notes").search(query: "TEAPOT")
        #expect(try await whole.execute().results.count == 1)
        await local.stop()
    }

    @Test func `is live, and looks again at changed documents alone`() async throws {
        let devices = try Devices()
        let device = devices.device
        try await device.setWordIndexes([WordIndex(collectionID: "notes", fields: ["text"])])
        try await devices.other.document("notes/a").setData(["text": "tea", "by": "coffee"])
        _ = try await device.collection("notes").getDocuments()
        let found = device.pipeline().collection("notes").search(query: "coffee")
        var snapshots = found.snapshots(source: .cache).makeAsyncIterator()
        let begin = try await first(of: &snapshots) { _ in true }
        #expect(begin.results.isEmpty && begin.searched.first?.fields == ["text"])
        let reads = devices.reads
        await device.disableNetwork()
        _ = try await device.document("notes/b").enqueueSetData(["text": "Coffee, black"])
        let own = try await first(of: &snapshots) { !$0.results.isEmpty }
        #expect(own.results.compactMap(\.id) == ["b"] && own.metadata.hasPendingWrites)
        _ = try await device.document("notes/b").enqueueUpdateData(["text": "milk"])
        _ = try await first(of: &snapshots) { $0.results.isEmpty }
        #expect(devices.reads == reads)
        await devices.local.stop()
    }
}
