import Foundation
import Testing
import Tidemark
import TidemarkTesting

/// Tests every other member of swift-api 1.6 in its Swift spelling.
@Suite(.timeLimit(.minutes(2))) struct `Parity 1.6, pipelines` {
    /// Makes five rooms with `n` from 1 to 5, on floors 0 and 1.
    private func rooms(_ local: LocalFirestore) async throws -> Firestore {
        let firestore = try local.firestore()
        for n in 1...5 {
            try await firestore.document("rooms/r\(n)").setData([
                "n": n, "floor": n % 2, "tags": ["t\(n)", "x"], "in": ["k": n],
                "v": VectorValue([Double(n), 0]),
            ])
        }
        try await firestore.document("rooms/r1/seats/s1").setData(["free": true])
        return firestore
    }

    private func numbers(_ pipeline: Pipeline) async throws -> [Int] {
        try await pipeline.execute().results.compactMap { $0.get("n") as? Int }
    }

    @Test func `sources`() async throws {
        let local = try LocalFirestore.startEnterprise()
        let firestore = try await rooms(local)
        let source: PipelineSource = firestore.pipeline()
        let byNumber = [Field("n").ascending()]
        #expect(try await numbers(source.collection("rooms").sort(byNumber)) == [1, 2, 3, 4, 5])
        let rooms = firestore.collection("rooms")
        #expect(
            try await numbers(source.collection(rooms, forceIndex: "primary").sort(byNumber))
                == [1, 2, 3, 4, 5])
        let seats = try await source.collectionGroup("seats").execute()
        #expect(seats.results.map(\.id) == ["s1"])
        #expect(try await source.database().execute().results.count == 6)
        #expect(
            try await numbers(source.documents(["rooms/r2", "rooms/none"]).sort(byNumber)) == [2])
        #expect(try await numbers(source.documents([rooms.document("r3")])) == [3])
        let query = rooms.whereField("n", isGreaterThan: 2).order(by: "n", descending: true)
        #expect(try await numbers(source.create(from: query.limit(to: 2))) == [5, 4])
        #expect(try await numbers(query.limit(toLast: 2).pipeline()) == [4, 3])
        await local.stop()
    }

    @Test func `rows and their documents`() async throws {
        let local = try LocalFirestore.startEnterprise()
        let firestore = try await rooms(local)
        let snapshot: Pipeline.Snapshot = try await firestore.pipeline().collection("rooms")
            .where(Field("n").equal(2)).execute()
        #expect(snapshot.executionTime > Timestamp(seconds: 0, nanoseconds: 0))
        let row: PipelineResult = try #require(snapshot.results.first)
        #expect(row.ref == firestore.document("rooms/r2") && row.id == "r2")
        #expect(row.createTime != nil && row.updateTime != nil)
        #expect(row.data["n"] as? Int == 2 && row.get(Field("in.k")) as? Int == 2)
        #expect(row.get(FieldPath(["in", "k"])) as? Int == 2 && row.get("none") == nil)
        struct Room: Decodable {
            @DocumentID var id: String?
            var n: Int
        }
        let decoded = try await firestore.pipeline().collection("rooms")
            .where(Field("n").equal(2)).execute(as: Room.self)
        #expect(decoded.first?.n == 2 && decoded.first?.id == "r2")
        let computed = try await firestore.pipeline().collection("rooms")
            .where(Field("n").equal(2)).select([Field("n"), Field("n").add(1).as("next")])
            .execute().results
        #expect(computed.first?.ref == nil && computed.first?.data["next"] as? Int == 3)
        await local.stop()
    }

    @Test func `stages of fields`() async throws {
        let local = try LocalFirestore.startEnterprise()
        let firestore = try await rooms(local)
        let one = firestore.pipeline().collection("rooms").where(Field("n").equal(1))
        let added = try await one.addFields([Field("n").multiply(10).as("ten")]).execute()
        #expect(added.results.first?.data["ten"] as? Int == 10 && added.results.first?.id == "r1")
        for removed in [one.removeFields(["n", "v"]), one.removeFields([Field("n"), Field("v")])] {
            let row = try await removed.execute().results.first
            #expect(row.map { Set($0.data.keys) } == ["floor", "tags", "in"])
        }
        for selected in [one.select(["in.k"]), one.select([Field("in.k")])] {
            let row = try await selected.execute().results.first
            #expect(row?.fields == ["in": .map(["k": .integer(1)])])
        }
        for replaced in [one.replace(with: "in"), one.replace(with: Field("in"))] {
            #expect(try await replaced.execute().results.first?.fields == ["k": .integer(1)])
        }
        let defined = one.define([Field("n").add(1).as("more")])
            .select([Variable("more").as("x")])
        #expect(try await defined.execute().results.first?.data["x"] as? Int == 2)
        await local.stop()
    }

    @Test func `stages of rows`() async throws {
        let local = try LocalFirestore.startEnterprise()
        let firestore = try await rooms(local)
        let all = firestore.pipeline().collection("rooms")
        let down = all.sort([Field("n").descending()])
        #expect(try await numbers(down.offset(1).limit(2)) == [4, 3])
        #expect(try await all.distinct(["floor"]).execute().results.count == 2)
        #expect(
            try await all.distinct([Field("n").mod(3).as("rest")]).execute().results.count == 3)
        #expect(try await all.sample(count: 2).execute().results.count == 2)
        #expect(try await all.sample(percentage: 1).execute().results.count == 5)
        #expect(try await all.union(with: all.limit(2)).execute().results.count == 7)
        let tags = try await all.where(Field("n").equal(1))
            .unnest(Field("tags").as("tag"), indexField: "place").execute().results
        #expect(tags.map { $0.data["tag"] as? String } == ["t1", "x"])
        #expect(tags.map { $0.data["place"] as? Int } == [0, 1])
        let near = all.findNearest(
            field: Field("v"), vectorValue: VectorValue([3, 0]), distanceMeasure: .euclidean,
            limit: 1, distanceField: "far")
        #expect(try await near.execute().results.first?.data["far"] as? Double == 0)
        let raw = all.rawStage(name: "where", params: [Field("n").equal(4)])
        #expect(try await numbers(raw) == [4])
        await local.stop()
    }

    @Test func `aggregates`() async throws {
        let local = try LocalFirestore.startEnterprise()
        let firestore = try await rooms(local)
        let (all, n) = (firestore.pipeline().collection("rooms"), Field("n"))
        let figures: [AliasedAggregate] = [
            CountAll().as("all"), n.count().as("count"), n.countDistinct().as("different"),
            n.greaterThan(2).countIf().as("some"), n.sum().as("sum"), n.average().as("average"),
            n.minimum().as("least"), n.maximum().as("greatest"), n.first().as("first"),
            n.last().as("last"), n.arrayAgg().as("list"), n.arrayAggDistinct().as("set"),
            AggregateFunction(functionName: "sum", args: [n]).as("raw"),
        ]
        let row = try #require(
            try await all.sort([n.ascending()]).aggregate(figures).execute().results.first)
        for (name, expected) in [
            ("all", 5), ("count", 5), ("different", 5), ("some", 3), ("sum", 15), ("average", 3),
            ("least", 1), ("greatest", 5), ("first", 1), ("last", 5), ("raw", 15),
        ] { #expect(row.data[name] as? Int == expected, "\(name)") }
        #expect((row.data["list"] as? [Any])?.count == 5)
        #expect((row.data["set"] as? [Any])?.count == 5)
        let floors = try await all.aggregate([CountAll().as("n")], groups: [Field("floor")])
            .sort([Field("floor").ascending()]).execute()
        #expect(floors.results.map { $0.data["n"] as? Int } == [2, 3])
        await local.stop()
    }

    @Test func `subqueries`() async throws {
        let local = try LocalFirestore.startEnterprise()
        let firestore = try await rooms(local)
        let seats = Subcollection("seats").where(Field("free").equal(true))
            .aggregate([CountAll().as("n")])
        let pipeline = firestore.pipeline().collection("rooms").where(Field("n").equal(1))
            .addFields([
                seats.toScalarExpression().as("free"),
                firestore.pipeline().collection("rooms").select(["n"]).toArrayExpression()
                    .arrayLength().as("others"),
            ])
        let row = try #require(try await pipeline.execute().results.first)
        #expect(row.data["free"] as? Int == 1 && row.data["others"] as? Int == 5)
        await local.stop()
    }

    @Test func `searches`() async throws {
        let local = try LocalFirestore.startEnterprise()
        let firestore = try local.firestore()
        let place = GeoPoint(latitude: 1, longitude: 2)
        try await firestore.document("notes/a").setData(["text": "fresh bread", "at": place])
        try await firestore.document("notes/b").setData(["text": "old bread", "at": place])
        let notes = firestore.pipeline().collection("notes")
        let found = try await notes.search(query: "bread -old", limit: 5).execute()
        #expect(found.results.map(\.id) == ["a"])
        let ranked = notes.search(
            query: DocumentMatches("bread"), sort: [Score().descending()], offset: 1, limit: 1,
            addFields: [Score().as("rank")])
        #expect(try await ranked.execute().results.count == 1)
        let near = notes.search(query: Field("at").geoDistance(place).asBoolean())
        #expect(try near.value.get().stages.count == 2)
        await local.stop()
    }

    @Test func `mistakes are thrown by execute`() async throws {
        let local = try LocalFirestore.startEnterprise()
        let firestore = try local.firestore()
        let other = try local.firestore(projectID: "another")
        let all = firestore.pipeline().collection("rooms")
        let mistakes: [(Pipeline, String)] = [
            (Subcollection("seats"), "created without a database"),
            (all.select([Field("n"), Field("n")]), "Duplicate alias 'n' found in selectables."),
            (
                all.aggregate([CountAll().as("n"), CountAll().as("n")]),
                "Duplicate alias 'n' found in accumulators."
            ),
            (all.where(Field("").exists()), "segment"),
            (firestore.pipeline().collection(other.collection("rooms")), "does not match"),
            (firestore.pipeline().documents(["rooms/a", "rooms/a"]), "Duplicate document"),
            (firestore.pipeline().collection("rooms/a"), "rooms/a"),
            (all.union(with: other.pipeline().collection("rooms")), "different databases"),
            (all.aggregate([]), "requires at least one accumulator"),
            (all.rawStage(name: "twist", params: []), "twist"),
        ]
        for (pipeline, words) in mistakes {
            let error = await #expect(throws: FirestoreError.self) { try await pipeline.execute() }
            #expect(error?.code == .invalidArgument, "\(words)")
            #expect(error?.detail.contains(words) == true, "\(error?.detail ?? "") lacks \(words)")
        }
        await local.stop()
    }

    @Test func `a database of the Standard edition refuses in production's words`() async throws {
        let local = try LocalFirestore.start()
        let pipeline = try local.firestore().pipeline().collection("rooms")
        let error = await #expect(throws: FirestoreError.self) { try await pipeline.execute() }
        #expect(error?.code == .failedPrecondition)
        #expect(error?.detail.contains("Enterprise edition") == true)
        await local.stop()
    }
}
