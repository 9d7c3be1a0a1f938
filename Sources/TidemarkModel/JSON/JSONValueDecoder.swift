/// Decodes types from ``JSONValue``, with all names of each object.
///
/// `JSONDecoder` first makes a dictionary of each object, which keeps one of two names that differ
/// only in how an accent is composed. Types of Foundation have no special form here: decode `Data`,
/// `Date` and `URL` from text.
package struct JSONValueDecoder {
    package init() {}

    /// - Throws: `DecodingError`; `dataCorrupted` without a path if the bytes are not JSON.
    package func decode<T: Decodable>(_ type: T.Type, from bytes: some Sequence<UInt8>) throws -> T
    {
        let value: JSONValue
        do throws(JSONFault) { value = try JSONValue(Array(bytes)) } catch {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: [],
                    debugDescription: "The given data was not valid JSON. \(error.message)."))
        }
        return try decode(type, from: value)
    }

    package func decode<T: Decodable>(_ type: T.Type, from value: JSONValue) throws -> T {
        try T(from: ValueDecoder(value: value, codingPath: []))
    }
}

extension JSONValue: Decodable {
    /// Decodes any value. A ``JSONValueDecoder`` returns all names. Another decoder may return one
    /// of two names that differ only in how an accent is composed.
    package init(from decoder: any Decoder) throws {
        if let decoder = decoder as? ValueDecoder {
            self = decoder.value
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .list(JSONList(value))
        } else {
            let members = try container.decode([String: JSONValue].self)
            self = .object(JSONObject(members.map { (name: $0.key, value: $0.value) }))
        }
    }
}

private struct ValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: JSONValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = value else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(
            MemberDecoding<Key>(members: Members(object), codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .list(let list) = value else { throw mismatch([Any].self) }
        return ElementDecoding(elements: Array(list), codingPath: codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func mismatch(_ type: Any.Type) -> DecodingError {
        let found =
            switch value {
            case .null: "null"
            case .bool: "a boolean"
            case .integer, .number: "a number"
            case .text: "a text"
            case .list: "a list"
            case .object: "an object"
            }
        let context = DecodingError.Context(
            codingPath: codingPath, debugDescription: "\(found), where a \(type) was expected")
        if case .null = value { return .valueNotFound(type, context) }
        return .typeMismatch(type, context)
    }

    func decodeNil() -> Bool { if case .null = value { true } else { false } }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let flag) = value else { throw mismatch(type) }
        return flag
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .text(let text) = value else { throw mismatch(type) }
        return text
    }

    func decode(_ type: Double.Type) throws -> Double {
        switch value {
        case .integer(let number): return Double(number)
        case .number(let number) where number.isFinite: return number
        case .number: throw unfit(type)
        default: throw mismatch(type)
        }
    }

    func decode(_ type: Float.Type) throws -> Float {
        let number = Float(try decode(Double.self))
        guard number.isFinite else { throw unfit(type) }
        return number
    }

    private func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        let result: T?
        switch value {
        case .integer(let number): result = T(exactly: number)
        case .number(let number): result = T(exactly: number)
        default: throw mismatch(type)
        }
        guard let result else { throw unfit(type) }
        return result
    }

    private func unfit(_ type: Any.Type) -> DecodingError {
        .dataCorrupted(
            .init(codingPath: codingPath, debugDescription: "the number does not fit in \(type)"))
    }

    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: self) }
}

/// The members of an object by name. The last of several members with the same name counts.
private struct Members {
    private(set) var names: [String] = []
    private var values: [ByteString: JSONValue] = [:]

    init(_ object: JSONObject) {
        for (name, value) in object
        where values.updateValue(value, forKey: ByteString(name)) == nil { names.append(name) }
    }

    subscript(name: String) -> JSONValue? { values[ByteString(name)] }
}

private struct MemberDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: Members
    let codingPath: [any CodingKey]

    var allKeys: [Key] { members.names.compactMap { Key(stringValue: $0) } }
    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    private func decoder(_ key: Key) throws -> ValueDecoder {
        guard let value = members[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key,
                .init(
                    codingPath: codingPath,
                    debugDescription: "no member named \"\(key.stringValue)\""))
        }
        return ValueDecoder(value: value, codingPath: codingPath + [key])
    }

    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder(key).decode(type) }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try decoder(key).decode(type)
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try decoder(key).decode(type)
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try decoder(key).decode(type)
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder(key).decode(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decoder(key).decode(type) }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try decoder(key).decode(type)
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try decoder(key).decode(type)
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try decoder(key).decode(type)
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decoder(key).decode(type) }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try decoder(key).decode(type)
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try decoder(key).decode(type)
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try decoder(key).decode(type)
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try decoder(key).decode(type)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try T(from: decoder(key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        guard let key = Key(stringValue: "super") else {
            throw DecodingError.valueNotFound(
                JSONObject.self, .init(codingPath: codingPath, debugDescription: "no super"))
        }
        return try decoder(key)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

private struct ElementDecoding: UnkeyedDecodingContainer {
    let elements: [JSONValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(elements: [JSONValue], codingPath: [any CodingKey]) {
        self.elements = elements
        self.codingPath = codingPath
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private func current() throws -> ValueDecoder {
        let path = codingPath + [IndexKey(currentIndex)]
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                JSONValue.self,
                .init(codingPath: path, debugDescription: "the list has \(elements.count) elements")
            )
        }
        return ValueDecoder(value: elements[currentIndex], codingPath: path)
    }

    mutating func decodeNil() throws -> Bool {
        let isNull = try current().decodeNil()
        if isNull { currentIndex += 1 }
        return isNull
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try T(from: current())
        currentIndex += 1
        return value
    }

    private mutating func nested() throws -> ValueDecoder {
        let decoder = try current()
        currentIndex += 1
        return decoder
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try nested().container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try nested().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try nested() }
}
