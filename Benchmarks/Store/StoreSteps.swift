import TidemarkModel
import TidemarkStore

/// The steps, through the store.
struct StoreSteps {
    let workload: Workload
    let store: DocumentStore

    init(_ workload: Workload, _ path: String) throws {
        self.workload = workload
        store = try DocumentStore(.file(path), indexBuilding: .onRequest)
    }

    func load(_ documents: [StoredDocument]) throws {
        for start in stride(from: 0, to: documents.count, by: 500) {
            try store.write { transaction in
                let table = transaction.documents(of: Workload.database)
                for document in documents[start..<min(start + 500, documents.count)] {
                    try table.put(document)
                }
            }
        }
    }

    func document(_ number: Int) -> StoredDocument {
        let time = Timestamp(seconds: 1_750_000_000 + Int64(number), nanoseconds: 0)
        return StoredDocument(
            path: workload.path(number), kind: .found,
            contents: EncodedFields(workload.fields(number)), createTime: time, updateTime: time,
            readTime: time)
    }

    func point(_ path: DocumentPath) throws -> Int {
        let found = try store.read { try $0.documents(of: Workload.database).document(at: path) }
        return found!.contents.bytes.count
    }

    private var newestFirst: [Order] { [Order(FieldPath(name: "timestamp"), .descending)] }

    func top() throws -> Int {
        try run(Query(collectionID: "messages", orders: newestFirst, limit: .first(50)))
    }

    func conversation(_ number: Int) throws -> Int {
        let name = Value.string(workload.conversation(number))
        return try run(
            Query(
                collectionID: "messages",
                filter: .field(FieldPath(name: "conversationId"), .equal, name),
                orders: newestFirst, limit: .first(50)))
    }

    func first() throws -> Int { try run(Query(collectionID: "messages", limit: .first(1))) }

    private func run(_ query: Query) throws -> Int {
        try store.read { try $0.documents(of: Workload.database).run(query) }.documents.count
    }

    /// - Returns: The longest slice, in seconds.
    func buildIndexes(_ time: (() throws -> Bool) throws -> (Bool, Double)) throws -> Double {
        var longest = 0.0
        while true {
            let (isMore, seconds) = try time { try store.buildWantedIndexes(slice: 1_000) }
            longest = max(longest, seconds)
            if !isMore { return longest }
        }
    }
}
