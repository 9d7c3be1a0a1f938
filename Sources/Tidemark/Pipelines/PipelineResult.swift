import Foundation

/// A row of a pipeline.
public struct PipelineResult: Sendable {
    private let row: ResultRow

    package init(
        _ firestore: Firestore, path: DocumentPath?, fields: MapValue, createTime: Timestamp?,
        updateTime: Timestamp?
    ) {
        row = ResultRow(
            firestore, path: path, .decoded(fields), createTime: createTime,
            updateTime: updateTime)
    }

    /// Makes the row of a whole document.
    package init(_ firestore: Firestore, _ document: Document) {
        row = ResultRow(
            firestore, path: document.path, .encoded(document.contents),
            createTime: document.createTime, updateTime: document.updateTime)
    }

    private var firestore: Firestore { row.firestore }
    /// The document of the row; nil for a row that no longer belongs to a document, for example
    /// behind `select` or `aggregate`.
    public var ref: DocumentReference? { row.reference }
    public var createTime: Timestamp? { row.createTime }
    public var updateTime: Timestamp? { row.updateTime }
    package var fields: MapValue { row.fields }

    /// The id of the row's document.
    public var id: String? { row.path?.id }

    /// The fields; nil stands for null. Numbers are `NSNumber`, which casts to every Swift number
    /// that holds it exactly.
    public var data: [String: (any Sendable)?] { exported(fields) }

    /// Returns the value at a path; nil for null, and if there is no value.
    public func get(_ fieldName: String) -> (any Sendable)? {
        (try? fieldName.resolved()).flatMap(value)
    }

    public func get(_ fieldPath: FieldPath) -> (any Sendable)? {
        (try? fieldPath.resolved()).flatMap(value)
    }

    public func get(_ field: Field) -> (any Sendable)? {
        (try? field.path.get()).flatMap(value)
    }

    private func value(at path: FieldPath) -> (any Sendable)? {
        if path.isDocumentID { return ref }
        return fields[path].flatMap(exported)
    }

    /// Decodes the row.
    ///
    /// - Parameters:
    ///   - type: The type of the row. A ``DocumentID`` in it gets the row's document.
    ///   - decoder: Converts values to Swift types.
    /// - Throws: `DecodingError` with the path of the field, or ``FirestoreDecodingError``.
    public func data<T: Decodable>(
        as type: T.Type, decoder: Firestore.Decoder = Firestore.Decoder()
    ) throws -> T {
        try decoder.decode(type, from: fields, in: ref, of: firestore)
    }

    // MARK: Export

    private func exported(_ map: MapValue) -> [String: (any Sendable)?] {
        let entries = SameKeys.first(of: map.entries, in: nil, name: \.key)
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.key, exported($0.value)) })
    }

    /// Returns nil for null.
    private func exported(_ value: Value) -> (any Sendable)? {
        switch value {
        case .null, .pendingServerTimestamp: return nil
        case .boolean(let value): return NSNumber(value: value)
        case .integer(let value): return NSNumber(value: value)
        case .double(let value): return NSNumber(value: value)
        case .timestamp(let value): return value
        case .string(let value): return value
        case .bytes(let value): return Data(value)
        case .reference(let value):
            guard value.database == firestore.databaseID else { return value }
            return DocumentReference(firestore, .success(value.path), text: value.path.text)
        case .geoPoint(let value): return value
        case .array(let values): return values.map { exported($0) }
        case .vector(let value): return value
        case .map(let value): return exported(value)
        }
    }
}

/// Two rows are equal if they have the same document, times and fields.
extension PipelineResult: Hashable {
    public static func == (left: PipelineResult, right: PipelineResult) -> Bool {
        left.firestore === right.firestore && left.row.path == right.row.path
            && left.createTime == right.createTime && left.updateTime == right.updateTime
            && left.fields == right.fields
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(row.path)
        hasher.combine(fields)
    }
}
