public import Foundation

/// The reason why a type could not be decoded.
public enum FirestoreDecodingError: Error, Hashable {
    /// The decoder is not Firestore's, or does not know the document of the data.
    case decodingIsNotSupported(String)
    /// The document has a field of the same name as a ``DocumentID``.
    case fieldNameConflict(String)
}

/// The reason why a value could not be encoded.
public enum FirestoreEncodingError: Error, Hashable {
    /// The encoder is not Firestore's.
    case encodingIsNotSupported(String)
}

/// A wrapper whose value can be known without a field of the document.
protocol DecodesWithoutField {
    init(withoutField document: DocumentReference?) throws
}

/// A wrapper that is never written.
protocol OmittedFromDocuments {}

// MARK: - The document's id

/// A type that a ``DocumentID`` can have: `String` or ``DocumentReference``.
public protocol DocumentIDWrappable {
    static func wrap(_ documentReference: DocumentReference) throws -> Self
}

extension String: DocumentIDWrappable {
    public static func wrap(_ documentReference: DocumentReference) -> String {
        documentReference.documentID
    }
}

/// The document from which a value was read. It is set by decoding and never written.
@propertyWrapper
public struct DocumentID<Value: DocumentIDWrappable & Codable> {
    public var wrappedValue: Value?

    public init(wrappedValue value: Value?) { wrappedValue = value }
}

extension DocumentID: Codable, DecodesWithoutField, OmittedFromDocuments {
    init(withoutField document: DocumentReference?) throws {
        guard let document else {
            throw FirestoreDecodingError.decodingIsNotSupported(
                "A DocumentID gets its value from the document and cannot be decoded by itself.")
        }
        self.init(wrappedValue: try Value.wrap(document))
    }

    public init(from decoder: any Swift.Decoder) throws {
        guard decoder is StoredDecoder else {
            throw FirestoreDecodingError.decodingIsNotSupported(
                "DocumentID values can only be decoded with Firestore.Decoder.")
        }
        let name = decoder.codingPath.last?.stringValue ?? ""
        throw FirestoreDecodingError.fieldNameConflict(
            "The document has a field \"\(name)\", which is the type's DocumentID.")
    }

    public func encode(to encoder: any Swift.Encoder) throws {
        throw FirestoreEncodingError.encodingIsNotSupported(
            "DocumentID values can only be encoded with Firestore.Encoder.")
    }
}

extension DocumentID: Equatable where Value: Equatable {}
extension DocumentID: Hashable where Value: Hashable {}
extension DocumentID: Sendable where Value: Sendable {}

// MARK: - The server's time

/// A type that a ``ServerTimestamp`` can have: `Date` or ``Timestamp``.
public protocol ServerTimestampWrappable {
    static func wrap(_ timestamp: Timestamp) throws -> Self
    static func unwrap(_ value: Self) throws -> Timestamp
}

extension Date: ServerTimestampWrappable {
    public static func wrap(_ timestamp: Timestamp) -> Date { timestamp.dateValue() }
    public static func unwrap(_ value: Date) -> Timestamp { Timestamp(date: value) }
}

extension Timestamp: ServerTimestampWrappable {
    public static func wrap(_ timestamp: Timestamp) -> Timestamp { timestamp }
    public static func unwrap(_ value: Timestamp) -> Timestamp { value }
}

/// A time that the server sets: nil is written as ``FieldValue/serverTimestamp()``. The value is
/// nil when it is read before the server has set it.
@propertyWrapper
public struct ServerTimestamp<Value: ServerTimestampWrappable & Codable>: Codable,
    DecodesWithoutField
{
    public var wrappedValue: Value?

    public init(wrappedValue value: Value?) { wrappedValue = value }

    init(withoutField document: DocumentReference?) { wrappedValue = nil }

    public init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue =
            container.decodeNil() ? nil : try Value.wrap(try container.decode(Timestamp.self))
    }

    public func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(Value.unwrap(wrappedValue))
        } else {
            try container.encode(FieldValue.serverTimestamp())
        }
    }
}

extension ServerTimestamp: Equatable where Value: Equatable {}
extension ServerTimestamp: Hashable where Value: Hashable {}
extension ServerTimestamp: Sendable where Value: Sendable {}

// MARK: - Null

/// A value whose nil is written as null. The nil of an optional would be left out.
@propertyWrapper
public struct ExplicitNull<Value> {
    public var wrappedValue: Value?

    public init(wrappedValue value: Value?) { wrappedValue = value }
}

extension ExplicitNull: DecodesWithoutField {
    init(withoutField document: DocumentReference?) { wrappedValue = nil }
}

extension ExplicitNull: Decodable where Value: Decodable {
    public init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }
}

extension ExplicitNull: Encodable where Value: Encodable {
    public func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}

extension ExplicitNull: Equatable where Value: Equatable {}
extension ExplicitNull: Hashable where Value: Hashable {}
extension ExplicitNull: Sendable where Value: Sendable {}

// MARK: - Values that only Firestore's coders know

extension FieldValue: Encodable {
    public func encode(to encoder: any Swift.Encoder) throws {
        throw FirestoreEncodingError.encodingIsNotSupported(
            "A FieldValue can only be encoded with Firestore.Encoder.")
    }
}
