import Foundation
import TidemarkStore

/// The composite indexes of `firestore.indexes.json`. Settings of single fields are ignored,
/// because they have no meaning here.
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

/// Reads the parameter of ``Firestore/setIndexConfiguration(_:)-(String)``.
enum IndexConfigurationReader {
    private static let longestConfiguration = 16 << 20

    static func text(of stream: InputStream) throws(FirestoreError) -> String {
        var bytes: [UInt8] = []
        let source = StreamedBytes(stream)
        while let chunk = try source.next() {
            bytes += chunk
            if bytes.count > longestConfiguration {
                throw .invalidArgument("An index configuration can have at most 16 MiB.")
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func definitions(in json: Data) throws(FirestoreError) -> [IndexDefinition] {
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
        else { throw .invalidArgument("\"\(index.collectionGroup)\" is not a collection id.") }
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
            throw .invalidArgument("An index must have fields, with at most one array field.")
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
