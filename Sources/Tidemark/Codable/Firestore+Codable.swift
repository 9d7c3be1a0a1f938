public import Foundation
import Synchronization

// The coders that convert between documents and values of Swift types.

extension Firestore {
    /// Converts values of Swift types to the data of a document. An optional that is nil makes no
    /// field.
    ///
    /// Thread-safe. An encoder can be used for any number of values.
    public final class Encoder: Sendable {
        struct Options: Sendable {
            var dates = DateEncodingStrategy.timestamp
            var data = DataEncodingStrategy.blob
            var floats = NonConformingFloatEncodingStrategy.throw
            var keys = KeyEncodingStrategy.useDefaultKeys
            var userInfo: [CodingUserInfoKey: any Sendable] = [:]
        }

        private let state = Mutex(Options())

        public init() {}

        var options: Options { state.withLock { $0 } }

        public var dateEncodingStrategy: DateEncodingStrategy {
            get { options.dates }
            set { state.withLock { $0.dates = newValue } }
        }

        public var dataEncodingStrategy: DataEncodingStrategy {
            get { options.data }
            set { state.withLock { $0.data = newValue } }
        }

        public var nonConformingFloatEncodingStrategy: NonConformingFloatEncodingStrategy {
            get { options.floats }
            set { state.withLock { $0.floats = newValue } }
        }

        public var keyEncodingStrategy: KeyEncodingStrategy {
            get { options.keys }
            set { state.withLock { $0.keys = newValue } }
        }

        public var userInfo: [CodingUserInfoKey: any Sendable] {
            get { options.userInfo }
            set { state.withLock { $0.userInfo = newValue } }
        }

        /// - Throws: `EncodingError` with the path of the field, ``FirestoreEncodingError``, or the
        ///   type's own error.
        ///
        /// If two names differ only in the composition of an accent, they are one key of a Swift
        /// dictionary. This function then returns the first of them. A write of the value itself
        /// stores both.
        public func encode<T: Encodable>(_ value: T) throws -> [String: Any] {
            try members(of: value).dictionary
        }

        /// Returns the data that a write stores, with all names.
        func written<T: Encodable>(_ value: T) throws -> [String: Any] {
            try members(of: value).writtenData
        }

        private func members<T: Encodable>(of value: T) throws -> EncodedMembers {
            let node = StoredEncoder(options, parent: nil, key: nil)
            try node.encode(value)
            guard case .map(let members) = node.content else {
                throw EncodingError.invalidValue(
                    value,
                    .init(
                        codingPath: [],
                        debugDescription: "A document needs a value with fields."))
            }
            return members
        }
    }

    /// Converts documents to values of Swift types, directly from their stored form.
    ///
    /// Thread-safe. A decoder can be used for any number of documents.
    public final class Decoder: Sendable {
        struct Options: Sendable {
            var dates = DateDecodingStrategy.timestamp
            var data = DataDecodingStrategy.blob
            var floats = NonConformingFloatDecodingStrategy.throw
            var keys = KeyDecodingStrategy.useDefaultKeys
            var convertsKeysOfDictionaries = false
            var userInfo: [CodingUserInfoKey: any Sendable] = [:]
        }

        private let state = Mutex(Options())

        public init() {}

        var options: Options { state.withLock { $0 } }

        public var dateDecodingStrategy: DateDecodingStrategy {
            get { options.dates }
            set { state.withLock { $0.dates = newValue } }
        }

        public var dataDecodingStrategy: DataDecodingStrategy {
            get { options.data }
            set { state.withLock { $0.data = newValue } }
        }

        public var nonConformingFloatDecodingStrategy: NonConformingFloatDecodingStrategy {
            get { options.floats }
            set { state.withLock { $0.floats = newValue } }
        }

        public var keyDecodingStrategy: KeyDecodingStrategy {
            get { options.keys }
            set { state.withLock { $0.keys = newValue } }
        }

        /// True if ``keyDecodingStrategy`` changes the keys of dictionaries too. False by default.
        ///
        /// The encoder of earlier versions changed the keys of a `[String: T]` by its strategy,
        /// like names of properties: `uidAbC` became `uid_ab_c`. Stored documents with such keys
        /// are read with the changed keys. Set this to true to read them with their original keys,
        /// and write them again.
        public var convertsKeysOfDictionaries: Bool {
            get { options.convertsKeysOfDictionaries }
            set { state.withLock { $0.convertsKeysOfDictionaries = newValue } }
        }

        public var userInfo: [CodingUserInfoKey: any Sendable] {
            get { options.userInfo }
            set { state.withLock { $0.userInfo = newValue } }
        }

        /// Decodes a value that ``DocumentSnapshot/data()`` or `get(_:)` returned. Decoding the
        /// snapshot itself with ``DocumentSnapshot/data(as:with:decoder:)`` is faster.
        ///
        /// - Parameters:
        ///   - type: The type to decode.
        ///   - container: A map, or a single value.
        ///   - document: The document that fills a ``DocumentID``.
        /// - Throws: `DecodingError` with the path of the field, ``FirestoreDecodingError``, or
        ///   ``FirestoreError`` for a value that Firestore cannot store.
        public func decode<T: Decodable>(
            _ type: T.Type, from container: Any, in document: DocumentReference? = nil
        ) throws -> T {
            let bytes = FieldsCodec.encode(try ValueParser.value(container))
            let source = DecodingSource(
                bytes, options: options, serverTimestamps: .none, reference: document,
                firestore: Self.firestore(in: container))
            return try StoredDecoder(source, try EncodedSlot.value(of: bytes)).decode(type)
        }

        /// Returns the client of the references in the container.
        private static func firestore(in container: Any) -> Firestore? {
            switch container {
            case let reference as DocumentReference: return reference.firestore
            case let map as [String: Any]:
                return map.values.lazy.compactMap { firestore(in: $0) }.first
            case let array as [Any]: return array.lazy.compactMap { firestore(in: $0) }.first
            default: return nil
            }
        }

        /// Decodes the fields of a document.
        func decode<T: Decodable>(
            _ type: T.Type, from contents: EncodedFields,
            _ serverTimestamps: ServerTimestampBehavior, in document: DocumentReference
        ) throws -> T {
            let source = DecodingSource(
                contents.bytes, options: options, serverTimestamps: serverTimestamps,
                reference: document)
            return try StoredDecoder(document: source).decode(type)
        }

        /// Decodes the fields of a pipeline's row.
        func decode<T: Decodable>(
            _ type: T.Type, from fields: MapValue, in document: DocumentReference?,
            of firestore: Firestore
        ) throws -> T {
            let bytes = FieldsCodec.encode(fields)
            let source = DecodingSource(
                bytes, options: options, serverTimestamps: .none, reference: document,
                firestore: firestore)
            return try StoredDecoder(document: source).decode(type)
        }
    }
}

// MARK: Strategies

extension Firestore {
    /// The form of a `Date` in a document.
    public enum DateEncodingStrategy: Sendable {
        /// The date's own form: a number, the seconds since 2001.
        case deferredToDate
        case secondsSince1970
        case millisecondsSince1970
        /// A text, such as `2026-11-21T10:00:00Z`.
        case iso8601
        case formatted(DateFormatter)
        case custom(@Sendable (Date, any Swift.Encoder) throws -> Void)
        /// A ``Timestamp``.
        case timestamp
    }

    public enum DateDecodingStrategy: Sendable {
        case deferredToDate
        case secondsSince1970
        case millisecondsSince1970
        case iso8601
        case formatted(DateFormatter)
        case custom(@Sendable (any Swift.Decoder) throws -> Date)
        case timestamp
    }

    /// The form of `Data` in a document.
    public enum DataEncodingStrategy: Sendable {
        /// The data's own form: an array of numbers.
        case deferredToData
        case base64
        case custom(@Sendable (Data, any Swift.Encoder) throws -> Void)
        /// Bytes.
        case blob
    }

    public enum DataDecodingStrategy: Sendable {
        case deferredToData
        case base64
        case custom(@Sendable (any Swift.Decoder) throws -> Data)
        case blob
    }

    /// The form of infinities and NaN in a document.
    public enum NonConformingFloatEncodingStrategy: Hashable, Sendable {
        case `throw`
        case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    public enum NonConformingFloatDecodingStrategy: Hashable, Sendable {
        case `throw`
        case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// The conversion from a key of the type to the name of a field. The keys of dictionaries are
    /// data: they stay unchanged at any depth.
    public enum KeyEncodingStrategy: Sendable {
        case useDefaultKeys
        /// `oneTwo` becomes `one_two`.
        case convertToSnakeCase
        case custom(@Sendable ([any CodingKey]) -> any CodingKey)
    }

    public enum KeyDecodingStrategy: Sendable {
        case useDefaultKeys
        /// `one_two` becomes `oneTwo`.
        case convertFromSnakeCase
        case custom(@Sendable ([any CodingKey]) -> any CodingKey)
    }
}
