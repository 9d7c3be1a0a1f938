import Synchronization

extension Firestore {
    /// Makes values of Swift types from documents, straight from the form in which they are stored.
    ///
    /// Thread-safe; one decoder serves any number of documents.
    public final class Decoder: Sendable {
        struct Options: Sendable {
            var dates = DateDecodingStrategy.timestamp
            var data = DataDecodingStrategy.blob
            var floats = NonConformingFloatDecodingStrategy.throw
            var keys = KeyDecodingStrategy.useDefaultKeys
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

        public var userInfo: [CodingUserInfoKey: any Sendable] {
            get { options.userInfo }
            set { state.withLock { $0.userInfo = newValue } }
        }

        /// Decodes what ``DocumentSnapshot/data()`` or ``DocumentSnapshot/get(_:)`` returned.
        /// Decoding a snapshot itself, ``DocumentSnapshot/data(as:with:decoder:)``, is faster.
        ///
        /// - Parameters:
        ///   - type: The type to decode.
        ///   - container: A dictionary of fields, or the value of one field.
        ///   - document: The document that a ``DocumentID`` is filled from; nil leaves it nil.
        /// - Throws: `DecodingError` with the path of the field, ``FirestoreDecodingError``, or
        ///   ``FirestoreError`` for what is no value of Firestore.
        public func decode<T: Decodable>(
            _ type: T.Type, from container: Any, in document: DocumentReference? = nil
        ) throws -> T {
            let bytes = FieldsCodec.encode(try ValueParser.value(container))
            let source = DecodingSource(
                bytes, options, .none, document, Self.firestore(in: container))
            return try StoredDecoder(source, try EncodedSlot.value(of: bytes)).decode(type)
        }

        /// Whose the references in it are.
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
            let source = DecodingSource(contents.bytes, options, serverTimestamps, document)
            return try StoredDecoder(document: source).decode(type)
        }
    }
}

/// What all parts of one decoding share.
final class DecodingSource {
    let bytes: [UInt8]
    let options: Firestore.Decoder.Options
    let serverTimestamps: ServerTimestampBehavior
    let reference: DocumentReference?
    /// Whom references that are found belong to.
    let firestore: Firestore?

    init(
        _ bytes: [UInt8], _ options: Firestore.Decoder.Options,
        _ serverTimestamps: ServerTimestampBehavior, _ reference: DocumentReference?,
        _ firestore: Firestore? = nil
    ) {
        self.firestore = reference?.firestore ?? firestore
        self.bytes = bytes
        self.options = options
        self.serverTimestamps = serverTimestamps
        self.reference = reference
    }
}
