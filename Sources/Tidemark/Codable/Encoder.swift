import Synchronization

extension Firestore {
    /// Makes the data of a document from values of Swift types. An optional that is nil makes no field.
    ///
    /// Thread-safe; one encoder serves any number of values.
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

        /// - Throws: `EncodingError` with the path of the field, ``FirestoreEncodingError``, or what the
        ///   type itself throws.
        public func encode<T: Encodable>(_ value: T) throws -> [String: Any] {
            let node = StoredEncoder(options, parent: nil, key: nil)
            try node.encode(value)
            guard case .map(let map) = node.content else {
                throw EncodingError.invalidValue(
                    value,
                    .init(
                        codingPath: [],
                        debugDescription: "A document is made of a value with fields."))
            }
            return map.mapValues { $0.any }
        }
    }
}
