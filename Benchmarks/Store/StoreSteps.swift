import TidemarkModel
import TidemarkStore

/// The steps of the store.
struct StoreSteps {
    let workload: Workload
    let store: DocumentStore

    init(_ workload: Workload, _ path: String) throws {
        self.workload = workload
        store = try DocumentStore(.file(path), indexBuilding: .onRequest)
    }

    func document(_ number: Int) -> StoredDocument {
        let document = workload.document(number)
        return StoredDocument(document, readTime: document.updateTime)
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

    func put(_ document: StoredDocument, _ durability: DocumentStore.Durability) throws -> Int {
        try store.write(durability) { try $0.documents(of: Workload.database).put(document) }
        return 1
    }

    func point(_ path: DocumentPath) throws -> Int {
        let found = try store.read { try $0.documents(of: Workload.database).document(at: path) }
        return found!.contents.bytes.count
    }

    func run(_ query: Query) throws -> Int {
        try store.read { try $0.documents(of: Workload.database).run(query) }.documents.count
    }

    /// - Returns: The times of the slices, in microseconds.
    func buildIndexes() throws -> [Double] {
        var slices: [Double] = []
        var isMore = true
        while isMore { slices.append(try time { isMore = try store.buildWantedIndexes() }) }
        return slices
    }
}
