/// Encodes types as ``JSONValue``, with all names of each object.
///
/// `JSONEncoder` makes a dictionary of each keyed container, which keeps one of two names that
/// differ only in how an accent is composed. Types of Foundation have no special form here: encode
/// `Data`, `Date` and `URL` as text.
package struct JSONValueEncoder {
    private let isPretty: Bool
    private let isSorted: Bool
    private let namesNumbers: Bool

    /// - Parameters:
    ///   - isPretty: True to write the text on several lines.
    ///   - isSorted: True to sort the members of each object by the bytes of their names.
    ///   - namesNumbers: True to write infinite numbers and NaN as `"Infinity"`, `"-Infinity"` and
    ///     `"NaN"`. Otherwise the encoder fails with an error for such numbers.
    package init(isPretty: Bool = false, isSorted: Bool = false, namesNumbers: Bool = false) {
        self.isPretty = isPretty
        self.isSorted = isSorted
        self.namesNumbers = namesNumbers
    }

    package func encode(_ value: some Encodable) throws -> [UInt8] {
        JSONWriter.bytes(of: try json(of: value), isPretty: isPretty, isSorted: isSorted)
    }

    package func json(of value: some Encodable) throws -> JSONValue {
        let node = EncodedNode(codingPath: [], namesNumbers: namesNumbers)
        try node.encode(value)
        return node.value
    }
}

/// A value that is being encoded. A list or an object holds nodes, which are filled later.
private final class EncodedNode: Encoder, SingleValueEncodingContainer {
    private enum Content {
        case value(JSONValue)
        case list([EncodedNode])
        case object(names: [String], places: [ByteString: Int], nodes: [EncodedNode])
    }

    let codingPath: [any CodingKey]
    private let namesNumbers: Bool
    private var content: Content?

    init(codingPath: [any CodingKey], namesNumbers: Bool) {
        self.codingPath = codingPath
        self.namesNumbers = namesNumbers
    }

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    var value: JSONValue {
        switch content {
        case .value(let value)?: value
        case .list(let nodes)?: .list(JSONList(nodes.map(\.value)))
        case .object(let names, _, let nodes)?:
            .object(JSONObject(zip(names, nodes).map { (name: $0, value: $1.value) }))
        // A type that encodes nothing at all has no members.
        case nil: .object([:])
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .object? = content {
        } else {
            content = .object(names: [], places: [:], nodes: [])
        }
        return KeyedEncodingContainer(MemberEncoding<Key>(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .list? = content {} else { content = .list([]) }
        return ElementEncoding(node: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    var count: Int { if case .list(let nodes)? = content { nodes.count } else { 0 } }

    func member(_ key: any CodingKey) -> EncodedNode {
        guard case .object(var names, var places, var nodes)? = content else {
            preconditionFailure("a keyed container is of an object")
        }
        // The parts must have one owner while they change, or each change copies them.
        content = nil
        let node = EncodedNode(codingPath: codingPath + [key], namesNumbers: namesNumbers)
        let name = ByteString(key.stringValue)
        if let place = places[name] {
            nodes[place] = node
        } else {
            places[name] = nodes.count
            names.append(name.text)
            nodes.append(node)
        }
        content = .object(names: names, places: places, nodes: nodes)
        return node
    }

    func element() -> EncodedNode {
        guard case .list(var nodes)? = content else {
            preconditionFailure("an unkeyed container is of a list")
        }
        content = nil
        let node = EncodedNode(
            codingPath: codingPath + [IndexKey(nodes.count)], namesNumbers: namesNumbers)
        nodes.append(node)
        content = .list(nodes)
        return node
    }

    private func store(_ value: JSONValue) { content = .value(value) }

    func encodeNil() { store(.null) }
    func encode(_ value: Bool) { store(.bool(value)) }
    func encode(_ value: String) { store(.text(value)) }

    func encode(_ value: Double) throws {
        guard value.isFinite else {
            if namesNumbers {
                return store(.text(value.isNaN ? "NaN" : value > 0 ? "Infinity" : "-Infinity"))
            }
            throw EncodingError.invalidValue(
                value,
                .init(codingPath: codingPath, debugDescription: "JSON has no number \(value)"))
        }
        store(.number(value))
    }

    /// Encodes the text of the number, so that 0.1 does not become 0.10000000149011612.
    func encode(_ value: Float) throws { try encode(Double("\(value)") ?? Double(value)) }

    private func store(integer value: some BinaryInteger) {
        store(Int64(exactly: value).map { .integer($0) } ?? .number(Double(value)))
    }

    func encode(_ value: Int) { store(integer: value) }
    func encode(_ value: Int8) { store(integer: value) }
    func encode(_ value: Int16) { store(integer: value) }
    func encode(_ value: Int32) { store(integer: value) }
    func encode(_ value: Int64) { store(integer: value) }
    func encode(_ value: UInt) { store(integer: value) }
    func encode(_ value: UInt8) { store(integer: value) }
    func encode(_ value: UInt16) { store(integer: value) }
    func encode(_ value: UInt32) { store(integer: value) }
    func encode(_ value: UInt64) { store(integer: value) }
    func encode<T: Encodable>(_ value: T) throws { try value.encode(to: self) }
}

private struct MemberEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodedNode

    var codingPath: [any CodingKey] { node.codingPath }

    mutating func encodeNil(forKey key: Key) { node.member(key).encodeNil() }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try node.member(key).encode(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { node.member(key).container(keyedBy: keyType) }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        node.member(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { node.member(SuperKey()) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { node.member(key) }
}

private struct SuperKey: CodingKey {
    var stringValue: String { "super" }
    var intValue: Int? { nil }

    init() {}
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
}

private struct ElementEncoding: UnkeyedEncodingContainer {
    let node: EncodedNode

    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int { node.count }

    mutating func encodeNil() { node.element().encodeNil() }
    mutating func encode<T: Encodable>(_ value: T) throws { try node.element().encode(value) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { node.element().container(keyedBy: keyType) }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        node.element().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { node.element() }
}

struct IndexKey: CodingKey {
    let index: Int
    var stringValue: String { "Index \(index)" }
    var intValue: Int? { index }

    init(_ index: Int) { self.index = index }
    init?(stringValue: String) { nil }
    init?(intValue: Int) { self.init(intValue) }
}
