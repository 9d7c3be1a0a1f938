public import Foundation
import TidemarkStore

/// `firestore.indexes.json`: only what it says of composite indexes; single fields have no settings
/// here.
private struct IndexConfigurationJSON: Decodable {
    struct Index: Decodable {
        struct Field: Decodable {
            let fieldPath: String
            let order: String?
            let arrayConfig: String?
        }

        let collectionGroup: String
        let queryScope: String?
        let fields: [Field]
    }

    let indexes: [Index]?
}

extension Firestore {
    /// Makes the indexes of a `firestore.indexes.json` on this device, when it is idle. Returns
    /// once the list is stored. Existing indexes stay. Seldom needed, because the cache makes the
    /// indexes that its queries need.
    ///
    /// - Throws: `invalidArgument` for an invalid configuration; nothing is changed then.
    public func setIndexConfiguration(_ json: String) async throws(FirestoreError) {
        let definitions = try Self.definitions(in: Data(json.utf8))
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.declareIndexes(definitions) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// As ``setIndexConfiguration(_:)-(String)``, from a stream, of which at most 16 MiB are read.
    public func setIndexConfiguration(
        _ stream: InputStream, isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) {
        try await setIndexConfiguration(try Self.text(of: stream))
    }

    /// As the `async` form; `completion` is called on the listeners' queue.
    public func setIndexConfiguration(
        _ json: String, completion: (@Sendable ((any Error)?) -> Void)?
    ) {
        callBack(completion) { () async throws(FirestoreError) in
            try await self.setIndexConfiguration(json)
        }
    }

    /// As the `async` form; `completion` is called on the listeners' queue.
    public func setIndexConfiguration(
        _ stream: InputStream, completion: (@Sendable ((any Error)?) -> Void)?
    ) {
        let json = Result { () throws(FirestoreError) in try Self.text(of: stream) }
        callBack(completion) { () async throws(FirestoreError) in
            try await self.setIndexConfiguration(try json.get())
        }
    }

    private static let longestConfiguration = 16 << 20

    private static func text(of stream: InputStream) throws(FirestoreError) -> String {
        var bytes: [UInt8] = []
        let source = StreamedBytes(stream)
        while let chunk = try source.next() {
            bytes += chunk
            if bytes.count > longestConfiguration {
                throw .invalidArgument("An index configuration has at most 16 MiB.")
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func definitions(in json: Data) throws(FirestoreError) -> [IndexDefinition] {
        let configuration: IndexConfigurationJSON
        do {
            configuration = try JSONDecoder().decode(IndexConfigurationJSON.self, from: json)
        } catch { throw .invalidArgument("The index configuration cannot be read: \(error)") }
        var definitions: [IndexDefinition] = []
        for index in configuration.indexes ?? [] { definitions.append(try definition(index)) }
        return definitions
    }

    private static func definition(
        _ index: IndexConfigurationJSON.Index
    ) throws(FirestoreError) -> IndexDefinition {
        guard (try? CollectionPath(index.collectionGroup))?.parent == nil,
            !index.collectionGroup.isEmpty
        else { throw .invalidArgument("\"\(index.collectionGroup)\" is no collection id.") }
        var fields: [IndexDefinition.Field] = []
        var name = Direction.ascending
        for field in index.fields {
            let path = try parsed(field.fieldPath)
            if path.isDocumentID {
                name = field.order == "DESCENDING" ? .descending : .ascending
                continue
            }
            fields.append(IndexDefinition.Field(path, try kind(field)))
        }
        guard !fields.isEmpty, fields.count(where: { $0.kind == .contains }) <= 1 else {
            throw .invalidArgument("An index has fields, and at most one by its elements.")
        }
        return IndexDefinition(
            collectionID: index.collectionGroup,
            scope: index.queryScope == "COLLECTION_GROUP" ? .group : .collection,
            fields: fields, name: name)
    }

    private static func parsed(_ text: String) throws(FirestoreError) -> FieldPath {
        do throws(InvalidPath) { return try FieldPath(encoded: text) } catch {
            throw FirestoreError(error)
        }
    }

    private static func kind(
        _ field: IndexConfigurationJSON.Index.Field
    ) throws(FirestoreError) -> IndexDefinition.Field.Kind {
        switch (field.order, field.arrayConfig) {
        case ("ASCENDING", nil): return .ascending
        case ("DESCENDING", nil): return .descending
        case (nil, "CONTAINS"): return .contains
        default:
            throw .invalidArgument("\(field.fieldPath) has neither an order nor CONTAINS.")
        }
    }
}
