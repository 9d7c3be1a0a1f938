import Foundation

/// Decodes one value in place. It finds a map's entries by one pass over the bytes, and looks them
/// up by the bytes of their names, without a dictionary.
final class StoredDecoder: Swift.Decoder {
    let source: DecodingSource
    /// The slot of the value; nil for the document as a whole.
    let slot: EncodedSlot?
    private let parent: StoredDecoder?
    private let key: (any CodingKey)?
    /// The entries of a map or an array.
    private(set) var slots: [EncodedSlot] = []
    /// The names of the entries after the strategy for keys; empty if the strategy changes no keys.
    private(set) var names: [String] = []
    /// True for a dictionary of the app. Its keys are data, and no strategy changes them.
    private var keysAreData = false
    private var hint = 0

    init(_ source: DecodingSource, _ slot: EncodedSlot) {
        self.source = source
        self.slot = slot
        parent = nil
        key = nil
    }

    init(document source: DecodingSource) {
        self.source = source
        slot = nil
        parent = nil
        key = nil
    }

    init(_ parent: StoredDecoder, slot: EncodedSlot, key: any CodingKey) {
        source = parent.source
        self.slot = slot
        self.parent = parent
        self.key = key
    }

    var codingPath: [any CodingKey] {
        guard let key else { return [] }
        return (parent?.codingPath ?? []) + [key]
    }

    var userInfo: [CodingUserInfoKey: Any] { source.options.userInfo }

    func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        try readEntries()
        return KeyedDecodingContainer(StoredKeys<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try readElements()
        return StoredElements(decoder: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    // MARK: Entries

    private func readEntries() throws {
        do {
            if let slot {
                guard slot.kind == .map else { throw mismatch([String: Any].self, slot) }
                slots = try EncodedSlot.entries(of: slot, in: source.bytes)
            } else {
                slots = try EncodedSlot.fields(of: source.bytes)
            }
        } catch let error as CodecError { throw corrupted("\(error)") }
        if keysAreData, !source.options.convertsKeysOfDictionaries { return }
        switch source.options.keys {
        case .useDefaultKeys: break
        case .convertFromSnakeCase:
            names = slots.map { SnakeCase.decode($0.keyText(in: source.bytes)) }
        case .custom(let convert):
            names = slots.map {
                convert(codingPath + [AnyKey(stringValue: $0.keyText(in: source.bytes))])
                    .stringValue
            }
        }
    }

    private func readElements() throws {
        guard let slot, slot.kind == .array else { throw mismatch([Any].self, slot) }
        do { slots = try EncodedSlot.elements(of: slot, in: source.bytes) } catch {
            throw corrupted("\(error)")
        }
    }

    /// Returns the entry of a key; nil if there is none.
    func entry(_ key: some CodingKey) -> EncodedSlot? {
        let name = key.stringValue
        let index =
            names.isEmpty
            ? slots.index(of: name, in: source.bytes, hint: hint)
            : names.firstIndex { $0.hasSameBytes(as: name) }
        guard let index else { return nil }
        hint = index + 1
        return slots[index]
    }

    /// The names that a container lists. If several names are one key of a dictionary, a dictionary
    /// gets only the first. Otherwise it would store the other name's value under that key.
    var entryNames: [String] {
        let all = names.isEmpty ? slots.map { $0.keyText(in: source.bytes) } : names
        guard keysAreData else { return all }
        return SameKeys.first(of: all, in: source.reference?.path) { $0 }
    }

    /// Decodes any type that ``native(_:slot:at:)`` does not handle.
    func made<T: Decodable>(_ type: T.Type) throws -> T {
        keysAreData = type is any KeyedByData.Type
        defer { keysAreData = false }
        return try T(from: self)
    }

    // MARK: Errors

    func corrupted(_ text: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: text))
    }

    func mismatch(_ type: Any.Type, _ slot: EncodedSlot?) -> DecodingError {
        if slot?.kind == .null {
            return .valueNotFound(
                type,
                .init(
                    codingPath: codingPath, debugDescription: "null, where a \(type) was expected"))
        }
        let found = slot.map { "\($0.kind)" } ?? "document"
        return .typeMismatch(
            type,
            .init(
                codingPath: codingPath, debugDescription: "a \(found), where a \(type) was expected"
            ))
    }
}

extension StoredDecoder: SingleValueDecodingContainer {
    private func required() throws -> EncodedSlot {
        guard let slot else { throw mismatch(Any.self, nil) }
        return slot
    }

    func decodeNil() -> Bool { slot.map { isNull($0) } ?? false }
    func decode(_ type: Bool.Type) throws -> Bool { try boolean(required(), nil) }
    func decode(_ type: String.Type) throws -> String { try text(required(), nil) }
    func decode(_ type: Double.Type) throws -> Double { try double(required(), nil) }
    func decode(_ type: Float.Type) throws -> Float { try float(required(), nil) }
    func decode(_ type: Int.Type) throws -> Int { try integer(required(), type: type, key: nil) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(required(), type: type, key: nil) }
    func decode(_ type: Int16.Type) throws -> Int16 {
        try integer(required(), type: type, key: nil)
    }
    func decode(_ type: Int32.Type) throws -> Int32 {
        try integer(required(), type: type, key: nil)
    }
    func decode(_ type: Int64.Type) throws -> Int64 {
        try integer(required(), type: type, key: nil)
    }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(required(), type: type, key: nil) }
    func decode(_ type: UInt8.Type) throws -> UInt8 {
        try integer(required(), type: type, key: nil)
    }
    func decode(_ type: UInt16.Type) throws -> UInt16 {
        try integer(required(), type: type, key: nil)
    }
    func decode(_ type: UInt32.Type) throws -> UInt32 {
        try integer(required(), type: type, key: nil)
    }
    func decode(_ type: UInt64.Type) throws -> UInt64 {
        try integer(required(), type: type, key: nil)
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let slot else { return try made(type) }
        if let native = try native(type, slot: slot, at: self) { return native }
        return try made(type)
    }
}
