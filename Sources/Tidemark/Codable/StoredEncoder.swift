import Foundation

/// Encodes one value into data for `setData`.
final class StoredEncoder: Swift.Encoder {
    /// The encoded value. Maps and arrays hold encoders, which are filled later.
    enum Content {
        case nothing
        case value(Any)
        case map(EncodedMembers)
        case array([StoredEncoder])
    }

    let options: Firestore.Encoder.Options
    var content = Content.nothing
    /// True while a dictionary of the app encodes itself. Its keys are data, and no strategy
    /// changes them.
    private var keysAreData = false
    private let parent: StoredEncoder?
    private let key: (any CodingKey)?

    init(_ options: Firestore.Encoder.Options, parent: StoredEncoder?, key: (any CodingKey)?) {
        self.options = options
        self.parent = parent
        self.key = key
    }

    var codingPath: [any CodingKey] {
        guard let key else { return [] }
        return (parent?.codingPath ?? []) + [key]
    }

    var userInfo: [CodingUserInfoKey: Any] { options.userInfo }

    var any: Any {
        switch content {
        // A type that encodes nothing has no fields.
        case .nothing: [String: Any]()
        case .value(let value): value
        case .map(let map): map.any
        case .array(let array): array.map(\.any)
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .map = content {} else { content = .map(EncodedMembers()) }
        return KeyedEncodingContainer(EncodingKeys<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array = content {} else { content = .array([]) }
        return EncodingElements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// Returns the encoder of a key's value.
    func entry(_ key: some CodingKey) -> StoredEncoder {
        let inner = StoredEncoder(options, parent: self, key: key)
        guard case .map(var map) = content else { return inner }
        content = .nothing
        map.set(name(of: key), inner)
        content = .map(map)
        return inner
    }

    private func name(of key: some CodingKey) -> String {
        if keysAreData { return key.stringValue }
        switch options.keys {
        case .useDefaultKeys: return key.stringValue
        case .convertToSnakeCase: return SnakeCase.encode(key.stringValue)
        case .custom(let convert): return convert(codingPath + [key]).stringValue
        }
    }

    func element() -> StoredEncoder {
        guard case .array(var array) = content else {
            return StoredEncoder(options, parent: self, key: nil)
        }
        content = .nothing
        let inner = StoredEncoder(options, parent: self, key: AnyKey(intValue: array.count))
        array.append(inner)
        content = .array(array)
        return inner
    }

    func store(_ value: Any) { content = .value(value) }

    func store(_ number: Double) throws {
        if number.isFinite { return store(number as Any) }
        guard case .convertToString(let positive, let negative, let nan) = options.floats else {
            throw invalid(
                number,
                """
                Not a number: set nonConformingFloatEncodingStrategy to store the value.
                """)
        }
        store((number.isNaN ? nan : number > 0 ? positive : negative) as Any)
    }

    func store(integer value: some BinaryInteger) throws {
        guard let integer = Int64(exactly: value) else {
            throw invalid(value, "Firestore's integers have 64 bits and a sign.")
        }
        store(integer as Any)
    }

    func invalid(_ value: Any, _ text: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: codingPath, debugDescription: text))
    }

    /// Encodes any type that is not a primitive.
    func encode<T: Encodable>(_ value: T) throws {
        switch value {
        case let date as Date: try encode(date)
        case let data as Data: try encode(data)
        case let url as URL: store(url.absoluteString)
        case let decimal as Decimal: try store(decimal.nearestDouble)
        case is Timestamp, is GeoPoint, is VectorValue, is DocumentReference, is FieldValue:
            store(value)
        default:
            if case .useDefaultKeys = options.keys { return try value.encode(to: self) }
            keysAreData = value is any KeyedByData
            defer { keysAreData = false }
            try value.encode(to: self)
        }
    }

    private func encode(_ date: Date) throws {
        switch options.dates {
        case .timestamp: store(Timestamp(date: date))
        case .deferredToDate: try date.encode(to: self)
        case .secondsSince1970: try store(date.timeIntervalSince1970)
        case .millisecondsSince1970: try store(date.timeIntervalSince1970 * 1000)
        case .iso8601: store(date.formatted(.iso8601))
        case .formatted(let formatter): store(formatter.string(from: date))
        case .custom(let encode): try encode(date, self)
        }
    }

    private func encode(_ data: Data) throws {
        switch options.data {
        case .blob: store(data)
        case .deferredToData: try data.encode(to: self)
        case .base64: store(data.base64EncodedString())
        case .custom(let encode): try encode(data, self)
        }
    }
}

extension StoredEncoder: SingleValueEncodingContainer {
    func encodeNil() { store(NSNull()) }
    func encode(_ value: Bool) { store(value) }
    func encode(_ value: String) { store(value) }
    func encode(_ value: Double) throws { try store(value) }
    func encode(_ value: Float) throws { try store(Double(value)) }
    func encode(_ value: Int) throws { try store(integer: value) }
    func encode(_ value: Int8) throws { try store(integer: value) }
    func encode(_ value: Int16) throws { try store(integer: value) }
    func encode(_ value: Int32) throws { try store(integer: value) }
    func encode(_ value: Int64) throws { try store(integer: value) }
    func encode(_ value: UInt) throws { try store(integer: value) }
    func encode(_ value: UInt8) throws { try store(integer: value) }
    func encode(_ value: UInt16) throws { try store(integer: value) }
    func encode(_ value: UInt32) throws { try store(integer: value) }
    func encode(_ value: UInt64) throws { try store(integer: value) }
}

private struct EncodingKeys<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: StoredEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil(forKey key: Key) { encoder.entry(key).encodeNil() }

    mutating func encode(_ value: Bool, forKey key: Key) { encoder.entry(key).encode(value) }

    mutating func encode(_ value: String, forKey key: Key) { encoder.entry(key).encode(value) }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        if value is any OmittedFromDocuments { return }
        try encoder.entry(key).encode(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { encoder.entry(key).container(keyedBy: keyType) }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.entry(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Swift.Encoder { encoder.entry(AnyKey.super) }
    mutating func superEncoder(forKey key: Key) -> any Swift.Encoder { encoder.entry(key) }
}

private struct EncodingElements: UnkeyedEncodingContainer {
    let encoder: StoredEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { if case .array(let array) = encoder.content { array.count } else { 0 } }

    mutating func encodeNil() { encoder.element().encodeNil() }
    mutating func encode(_ value: Bool) { encoder.element().encode(value) }
    mutating func encode(_ value: String) { encoder.element().encode(value) }
    mutating func encode<T: Encodable>(_ value: T) throws { try encoder.element().encode(value) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { encoder.element().container(keyedBy: keyType) }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        encoder.element().unkeyedContainer()
    }

    mutating func superEncoder() -> any Swift.Encoder { encoder.element() }
}
