/// A map's values by key.
struct StoredKeys<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: StoredDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { decoder.entryNames.compactMap { Key(stringValue: $0) } }
    func contains(_ key: Key) -> Bool { decoder.entry(key) != nil }

    @inline(__always)
    private func slot(_ key: Key) throws -> EncodedSlot {
        if let slot = decoder.entry(key) { return slot }
        throw DecodingError.keyNotFound(
            key,
            .init(
                codingPath: codingPath,
                debugDescription: "no field named \"\(key.stringValue)\""))
    }

    /// Returns the slot of a value; nil if there is no value, or null.
    @inline(__always)
    private func present(_ key: Key) -> EncodedSlot? {
        guard let slot = decoder.entry(key), !decoder.isNull(slot) else { return nil }
        return slot
    }

    func decodeNil(forKey key: Key) throws -> Bool { decoder.isNull(try slot(key)) }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try decoder.boolean(slot(key), key)
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try decoder.text(slot(key), key)
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try decoder.double(slot(key), key)
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try decoder.float(slot(key), key)
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try decoder.integer(slot(key), type: type, key: key)
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try decoder.integer(slot(key), type: type, key: key)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if let slot = decoder.entry(key) { return try decoder.decode(type, slot, key) }
        // Only a wrapper of Firestore can be decoded without a field.
        guard let wrapper = type as? any DecodesWithoutField.Type else {
            _ = try slot(key)
            throw decoder.corrupted("unreachable")
        }
        return try wrapper.init(withoutField: decoder.source.reference) as! T
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try present(key).map { try decoder.boolean($0, key) }
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try present(key).map { try decoder.text($0, key) }
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try present(key).map { try decoder.double($0, key) }
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try present(key).map { try decoder.integer($0, type: type, key: key) }
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try present(key).map { try decoder.integer($0, type: type, key: key) }
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try present(key).map { try decoder.decode(type, $0, key) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try StoredDecoder(decoder, slot: slot(key), key: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try StoredDecoder(decoder, slot: slot(key), key: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Swift.Decoder {
        guard let slot = decoder.entry(AnyKey.super) else {
            throw DecodingError.keyNotFound(
                AnyKey.super, .init(codingPath: codingPath, debugDescription: "no super"))
        }
        return StoredDecoder(decoder, slot: slot, key: AnyKey.super)
    }

    func superDecoder(forKey key: Key) throws -> any Swift.Decoder {
        StoredDecoder(decoder, slot: try slot(key), key: key)
    }
}

/// The values of an array, in order.
struct StoredElements: UnkeyedDecodingContainer {
    let decoder: StoredDecoder
    private(set) var currentIndex = 0

    init(decoder: StoredDecoder) { self.decoder = decoder }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { decoder.slots.count }
    var isAtEnd: Bool { currentIndex >= decoder.slots.count }

    private func current(_ type: Any.Type) throws -> EncodedSlot {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type,
                .init(
                    codingPath: codingPath + [AnyKey(intValue: currentIndex)],
                    debugDescription: "the array has \(decoder.slots.count) elements"))
        }
        return decoder.slots[currentIndex]
    }

    private mutating func next<T>(
        _ type: T.Type, _ decode: (EncodedSlot, (any CodingKey)?) throws -> T
    ) throws -> T {
        let value = try decode(current(type), AnyKey(intValue: currentIndex))
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        let isNull = decoder.isNull(try current(Never?.self))
        if isNull { currentIndex += 1 }
        return isNull
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next(type, decoder.boolean) }
    mutating func decode(_ type: String.Type) throws -> String { try next(type, decoder.text) }
    mutating func decode(_ type: Double.Type) throws -> Double { try next(type, decoder.double) }

    mutating func decode(_ type: Int.Type) throws -> Int {
        let decoder = decoder
        return try next(type) { try decoder.integer($0, type: type, key: $1) }
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let decoder = decoder
        let key = AnyKey(intValue: currentIndex)
        return try next(type) { slot, _ in try decoder.decode(type, slot, key) }
    }

    private mutating func nested() throws -> StoredDecoder {
        let inner = StoredDecoder(
            decoder, slot: try current(Any.self), key: AnyKey(intValue: currentIndex))
        currentIndex += 1
        return inner
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try nested().container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try nested().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Swift.Decoder { try nested() }
}
