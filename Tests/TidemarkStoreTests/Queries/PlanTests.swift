import Testing
import TidemarkModel

@testable import TidemarkStore

/// The amount of data that a query reads, as a count and not as a time.
struct PlanTests {
    private static let conversation = FieldPath(name: "conversationId")
    private static let time = FieldPath(name: "timestamp")

    /// Returns a store with `count` messages in conversations of 50, the newest last. The order of
    /// the names is not the order of the times.
    private func messages(_ count: Int, _ building: DocumentStore.IndexBuilding) throws
        -> DocumentStore
    {
        let store = try DocumentStore(.memory, indexBuilding: building)
        try store.write { transaction throws in
            let table = transaction.documents(of: testDatabase)
            for number in 0..<count { try table.put(Self.message(number, of: count)) }
        }
        return store
    }

    private static func message(_ number: Int, of count: Int) -> StoredDocument {
        var dice = Dice(seed: UInt64(number))
        return found(
            "messages/m\(dice.next())",
            [
                "conversationId": .string("conv-\(number % (count / 50))"),
                "timestamp": .timestamp(Timestamp(seconds: Int64(number), nanoseconds: 0)),
                "tags": .array([.integer(Int64(number % 7)), .integer(Int64(number % 11))]),
            ])
    }

    private var inConversation: Query {
        Query(
            collectionID: "messages",
            filter: .field(Self.conversation, .equal, .string("conv-3")),
            orders: [Order(Self.time, .descending)], limit: .first(50))
    }

    private func run(_ store: DocumentStore, _ query: Query) throws -> QueryRun {
        try store.read { try $0.documents(of: testDatabase).run(query) }
    }

    private func declare(_ store: DocumentStore, _ fields: [IndexDefinition.Field]) throws {
        let definition = IndexDefinition(collectionID: "messages", fields: fields)
        try store.write { try $0.documents(of: testDatabase).declareIndex(definition) }
    }

    @Test func `of 100,000 documents the top 50 are found by looking at 50`() throws {
        let store = try messages(100_000, .onRequest)
        try declare(store, [IndexDefinition.Field(Self.time)])
        var query = Query(
            collectionID: "messages", orders: [Order(Self.time, .descending)], limit: .first(50))
        let top = try run(store, query)
        #expect(top.documents.count == 50)
        #expect(top.stats.rowsScanned <= 51)
        #expect(top.stats.plan == "index timestamp asc of messages, backwards")
        query.limit = .last(50)
        #expect(try run(store, query).stats.rowsScanned <= 51)
        query.start = Cursor(
            values: [.timestamp(Timestamp(seconds: 50_000, nanoseconds: 0))], before: false)
        query.limit = .first(1)
        let next = try run(store, query)
        #expect(next.documents == [Self.message(49_999, of: 100_000)])
        #expect(next.stats.rowsScanned == 1)
        #expect(
            try run(store, Query(collectionID: "messages", limit: .first(1))).stats.rowsScanned == 1
        )
    }

    @Test func `a plan that is kept is made anew when the indexes are others`() throws {
        let store = try messages(500, .onRequest)
        let kept = KeptPlan()
        func stats(_ limit: Int = 50) throws -> QueryStats {
            var query = inConversation
            query.limit = .first(limit)
            return try store.read {
                try $0.documents(of: testDatabase).run(query, kept: kept) { _ in true }
            }
        }
        #expect(try stats().rowsScanned == 500)
        try declare(
            store, [IndexDefinition.Field(Self.conversation), IndexDefinition.Field(Self.time)])
        #expect(try stats().rowsScanned == 50)
        #expect(try stats(7).rowsScanned == 7)
        try store.write { try $0.documents(of: testDatabase).removeAll() }
        #expect(try stats().rowsReturned == 0)
        try store.write { transaction throws in
            _ = try transaction.documents(of: testDatabase).put(Self.message(3, of: 500))
        }
        #expect(try stats().rowsReturned == 1)
    }

    @Test func `the first slow query makes the index of the second`() throws {
        let store = try messages(2_000, .afterTransactions)
        let slow = try run(store, inConversation)
        #expect(slow.stats.rowsScanned == 2_000)
        let quick = try run(store, inConversation)
        #expect(quick.stats.rowsScanned == 50)
        #expect(quick.documents == slow.documents)
        #expect(
            quick.stats.plan == "index conversationId asc, timestamp asc of messages, backwards")
        let indexes = try store.read { try $0.documents(of: testDatabase).indexes() }
        #expect(indexes.map(\.isReady) == [true])
        #expect(indexes.map(\.isDeclared) == [false])
    }

    @Test func `an index is made in slices while documents change`() throws {
        let store = try messages(2_000, .onRequest)
        let slow = try run(store, inConversation)
        var slices = 0
        while try store.buildWantedIndexes(slice: 100) {
            slices += 1
            try store.write { transaction throws in
                let table = transaction.documents(of: testDatabase)
                try table.put(Self.message(slices * 40 + 3, of: 2_000))
                try table.remove(Self.message(slices, of: 2_000).path)
                try table.put(Self.message(slices, of: 2_000))
            }
        }
        #expect(slices >= 20)
        let quick = try run(store, inConversation)
        #expect(quick.stats.rowsScanned == 50)
        #expect(quick.documents == slow.documents)
    }

    /// The build reads documents in the order of the file, where documents of other collections lie
    /// between them.
    @Test(arguments: [1, 7, 100]) func `an index leaves out what lies between its documents`(
        slice: Int
    ) throws {
        let store = try DocumentStore(.memory, indexBuilding: .onRequest)
        try store.write { transaction throws in
            let table = transaction.documents(of: testDatabase)
            for number in 0..<500 {
                try table.put(Self.message(number, of: 500))
                for other in 0..<number % 9 { try table.put(found("others/\(number)-\(other)")) }
                if number % 5 == 0 { try table.put(missing("messages/gone\(number)")) }
            }
            for number in stride(from: 0, to: 500, by: 4) {
                try table.remove(Self.message(number, of: 500).path)
            }
        }
        let slow = try run(store, inConversation)
        var slices = 0
        while try store.buildWantedIndexes(slice: slice) {
            slices += 1
            if slices == 3 { try store.write { try remove(493, $0) } }
        }
        let quick = try run(store, inConversation)
        #expect(quick.stats.rowsScanned == quick.documents.count)
        let removed = Self.message(493, of: 500).path
        #expect(slow.documents.contains { $0.path == removed })
        #expect(quick.documents == slow.documents.filter { $0.path != removed })
    }

    private func remove(_ number: Int, _ transaction: StoreTransaction) throws {
        try transaction.documents(of: testDatabase).remove(Self.message(number, of: 500).path)
    }

    @Test func `documents to be indexed are found by their place, not by their collection`() throws
    {
        let store = try messages(50, .onRequest)
        let plan = try store.read { transaction throws in
            try transaction.rows(
                "EXPLAIN QUERY PLAN " + OwnSQL.documentsToIndex.text,
                [1, 2, 1].map { .integer($0) })
        }
        #expect(
            try plan.map { try $0.text(3) } == [
                "SEARCH document USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"
            ])
    }

    @Test func `slices of one step come to an end`() throws {
        let store = try messages(200, .onRequest)
        let slow = try run(store, inConversation)
        var slices = 0
        while try store.buildWantedIndexes(slice: 1) {
            slices += 1
            try #require(slices < 1_000)
        }
        #expect(slices >= 400)
        let quick = try run(store, inConversation)
        #expect(quick.stats.rowsScanned == 50)
        #expect(quick.documents == slow.documents)
    }

    @Test func `newer than a time looks at what is newer`() throws {
        let store = try messages(1_000, .onRequest)
        try declare(store, [IndexDefinition.Field(Self.time)])
        let query = Query(
            collectionID: "messages",
            filter: .field(
                Self.time, .greaterThan, .timestamp(Timestamp(seconds: 979, nanoseconds: 0))),
            orders: [Order(Self.time, .descending)], limit: .first(50))
        let newer = try run(store, query)
        #expect(newer.documents.count == 20)
        #expect(newer.stats.rowsScanned == 20)
    }

    @Test func `several ranges are merged and stop at the limit`() throws {
        let store = try messages(1_000, .onRequest)
        try declare(store, [IndexDefinition.Field(Self.conversation), .init(Self.time)])
        var query = inConversation
        query.filter = .field(
            Self.conversation, .isIn,
            .array([.string("conv-1"), .string("conv-2"), .string("conv-1")]))
        query.limit = .first(10)
        let merged = try run(store, query)
        #expect(merged.documents.count == 10)
        #expect(merged.stats.rowsScanned <= 14)
        try declare(store, [.init(FieldPath(name: "tags"), .contains)])
        let tagged = Query(
            collectionID: "messages",
            filter: .field(
                FieldPath(name: "tags"), .arrayContainsAny, .array([.integer(6), .integer(10)])),
            limit: .first(5))
        let any = try run(store, tagged)
        #expect(any.documents.count == 5)
        #expect(any.stats.rowsScanned <= 9)
    }

    @Test func `counting reads entries, or no more than asked for`() throws {
        let store = try messages(1_000, .onRequest)
        try declare(store, [IndexDefinition.Field(Self.conversation)])
        var query = inConversation
        query.orders = []
        query.limit = nil
        try store.read { transaction throws in
            let table = transaction.documents(of: testDatabase)
            let all = try table.count(query)
            #expect(all.count == 50 && all.entriesScanned == 50)
            let few = try table.count(query, upTo: 7)
            #expect(few.count == 7 && few.entriesScanned == 7)
        }
    }

    @Test func `a name is read, not searched for`() throws {
        let store = try messages(1_000, .onRequest)
        let path = Self.message(7, of: 1_000).path
        let name = Value.reference(ReferenceValue(database: testDatabase, path: path))
        let point = try run(
            store, Query(collectionID: "messages", filter: .field(.documentID, .equal, name)))
        #expect(point.documents.map(\.path) == [path])
        #expect(point.stats.rowsScanned == 1)
        let range = try run(
            store,
            Query(
                collectionID: "messages", filter: .field(.documentID, .greaterThanOrEqual, name),
                limit: .first(2)))
        #expect(range.documents.first?.path == path)
        #expect(range.stats.rowsScanned == 2)
    }

    @Test func `a plan is told without being run`() throws {
        let store = try messages(100, .onRequest)
        let plan = try store.read { try $0.documents(of: testDatabase).explain(inConversation) }
        #expect(plan == "collection messages, each tested, then sorted")
    }

    @Test func `rows are handed out until the caller has enough`() throws {
        let store = try messages(100, .onRequest)
        var seen = 0
        let stats = try store.read { transaction throws in
            try transaction.documents(of: testDatabase).run(Query(collectionID: "messages")) { _ in
                seen += 1
                return seen < 3
            }
        }
        #expect(seen == 3)
        #expect(stats.rowsScanned == 3)
        #expect(stats.rowsReturned == 3)
    }
}
