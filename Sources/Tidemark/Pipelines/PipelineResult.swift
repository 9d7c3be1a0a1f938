import Foundation

/// A row of a pipeline.
public struct PipelineResult: Sendable {
    /// The document of the row; nil for a row that no longer belongs to a document, for example
    /// behind `select` or `aggregate`.
    public let ref: DocumentReference?
    public let createTime: Timestamp?
    public let updateTime: Timestamp?
    package let fields: MapValue
    private let firestore: Firestore

    package init(
        _ firestore: Firestore, path: DocumentPath?, fields: MapValue, createTime: Timestamp?,
        updateTime: Timestamp?
    ) {
        self.firestore = firestore
        self.fields = fields
        self.createTime = createTime
        self.updateTime = updateTime
        ref = path.map { DocumentReference(firestore, .success($0), text: $0.text) }
    }

    /// The id of the row's document.
    public var id: String? { ref?.documentID }

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
        left.firestore === right.firestore && left.ref == right.ref && left.fields == right.fields
            && left.createTime == right.createTime && left.updateTime == right.updateTime
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ref)
        hasher.combine(fields)
    }
}
