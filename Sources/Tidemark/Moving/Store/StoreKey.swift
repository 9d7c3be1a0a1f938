/// A key of FirebaseFirestore's store. A key is a sequence of parts, each after a number for its
/// kind, in an encoding whose byte order is the order of the encoded values.
struct StoreKey {
    private enum Label: Int64 {
        case end = 0
        case table = 5
        case batch = 10
        case target = 12
        case user = 13
        case segment = 62
    }

    /// The prefix of the pending writes, by user and number.
    static let mutations = prefix("mutation")
    /// The prefix of the state of each user's queue.
    static let queues = prefix("mutation_queue")
    /// The prefix of the row with the form of the store.
    static let version = prefix("version")
    /// The prefix of the documents, by path.
    static let documents = prefix("remote_document")
    /// The prefix of the targets, by number.
    static let targets = prefix("target")
    /// The prefix of the documents of each target.
    static let targetDocuments = prefix("target_document")
    /// The prefix of the targets of each document, and of its last use, which has the target 0.
    static let documentTargets = prefix("document_target")
    /// The prefix of the row about all targets.
    static let allTargets = prefix("target_global")
    static let bundles = prefix("bundles")
    static let namedQueries = prefix("named_queries")
    /// The prefixes of the rows with a user, directly behind the prefix.
    static let users = [
        "mutation", "mutation_queue", "document_mutation", "document_overlays", "index_state",
    ].map(prefix)

    /// Returns the first bytes of the keys of a table.
    private static func prefix(_ table: String) -> [UInt8] {
        // A small number is encoded as a single byte, plus 0x80; the bytes 0 and 1 end a text.
        [0x80 + UInt8(Label.table.rawValue)] + Array(table.utf8) + [0, 1]
    }

    private var rest: ArraySlice<UInt8>

    /// - Parameter table: The first bytes of the key.
    private init(_ key: [UInt8], in table: [UInt8]) { rest = key.dropFirst(table.count) }

    // MARK: Reading

    /// Returns nil for a key of another form.
    static func mutation(_ key: [UInt8]) -> (user: String, batch: Int32)? {
        var key = StoreKey(key, in: mutations)
        guard key.label(.user), let user = key.text(), key.label(.batch),
            let number = key.number(), let batch = Int32(exactly: number), key.isAtEnd()
        else { return nil }
        return (user, batch)
    }

    /// Returns nil for a key of another form.
    static func queue(_ key: [UInt8]) -> String? {
        var key = StoreKey(key, in: queues)
        guard key.label(.user), let user = key.text(), key.isAtEnd() else { return nil }
        return user
    }

    /// Returns the user in a key of a table in ``users``; nil for a key of another form.
    static func user(_ key: [UInt8], in table: [UInt8]) -> String? {
        var key = StoreKey(key, in: table)
        return key.label(.user) ? key.text() : nil
    }

    /// Returns nil for a key of another form.
    static func document(_ key: [UInt8]) -> String? {
        var key = StoreKey(key, in: documents)
        guard let path = key.path(), key.isAtEnd() else { return nil }
        return path
    }

    /// Returns nil for a key of another form.
    static func target(_ key: [UInt8]) -> Int32? {
        var key = StoreKey(key, in: targets)
        guard key.label(.target), let target = key.targetNumber(), key.isAtEnd() else {
            return nil
        }
        return target
    }

    /// Returns nil for a key of another form.
    static func targetDocument(_ key: [UInt8]) -> (target: Int32, path: String)? {
        var key = StoreKey(key, in: targetDocuments)
        guard key.label(.target), let target = key.targetNumber(), let path = key.path(),
            key.isAtEnd()
        else { return nil }
        return (target, path)
    }

    /// Returns nil for a key of another form.
    static func documentTarget(_ key: [UInt8]) -> (path: String, target: Int32)? {
        var key = StoreKey(key, in: documentTargets)
        guard let path = key.path(), key.label(.target), let target = key.targetNumber(),
            key.isAtEnd()
        else { return nil }
        return (path, target)
    }

    // MARK: Making

    /// Returns the key of a document.
    static func document(at path: String) -> [UInt8] { documents + encoded(path) + [0x80] }

    /// Returns the prefix of the targets of a document.
    static func documentTargets(of path: String) -> [UInt8] { documentTargets + encoded(path) }

    /// Returns a key before all documents after a path, as it stands in keys.
    static func firstDocument(after path: [UInt8]) -> [UInt8] {
        path.isEmpty ? documents : documents + path + [0x81]
    }

    /// Returns a key before all targets of documents after a path, as it stands in keys.
    static func firstDocumentTarget(after path: [UInt8]) -> [UInt8] {
        path.isEmpty
            ? documentTargets : documentTargets + path + [0x81 + UInt8(Label.target.rawValue)]
    }

    /// Returns the prefix of the documents of a target. The number of a target is not negative.
    static func documents(ofTarget target: Int32) -> [UInt8] {
        targetDocuments + [0x80 + UInt8(Label.target.rawValue)] + encoded(UInt64(max(0, target)))
    }

    /// Returns a path as it stands in keys.
    static func encoded(_ path: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for segment in path.split(separator: "/", omittingEmptySubsequences: false) {
            bytes.append(0x80 + UInt8(Label.segment.rawValue))
            for byte in segment.utf8 {
                switch byte {
                case 0: bytes += [0, 255]
                case 255: bytes += [255, 0]
                default: bytes.append(byte)
                }
            }
            bytes += [0, 1]
        }
        return bytes
    }

    /// Encodes a number that is not negative: as many ones as bytes, a zero, and the number.
    private static func encoded(_ number: UInt64) -> [UInt8] {
        var count: UInt64 = 1
        while count < 8, number >> (7 * count - 1) != 0 { count += 1 }
        let head = (UInt64(1) << count - 1) << (7 * count)
        return (0..<count).reversed().map { UInt8(truncatingIfNeeded: (number | head) >> (8 * $0)) }
    }

    // MARK: Parts

    private mutating func label(_ label: Label) -> Bool { number() == label.rawValue }

    private mutating func isAtEnd() -> Bool { label(.end) && rest.isEmpty }

    private mutating func targetNumber() -> Int32? { number().flatMap { Int32(exactly: $0) } }

    /// Reads the segments up to the next part of another kind.
    private mutating func path() -> String? {
        var path = ""
        while rest.first == 0x80 + UInt8(Label.segment.rawValue) {
            rest.removeFirst()
            guard let segment = text() else { return nil }
            if !path.isEmpty { path += "/" }
            path += segment
        }
        return path.isEmpty ? nil : path
    }

    /// Reads a text, which ends with the bytes 0 and 1. A zero is written as 0 and 255, and a 255
    /// as 255 and 0.
    private mutating func text() -> String? {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte != 0, byte != 255 {
                bytes.append(byte)
                continue
            }
            switch (byte, rest.popFirst()) {
            case (0, 1): return String(validating: bytes, as: UTF8.self)
            case (0, 255): bytes.append(0)
            case (255, 0): bytes.append(255)
            default: return nil
            }
        }
        return nil
    }

    /// The highest bit is 1 unless the number is negative. Then follow as many equal bits as bytes
    /// follow the first byte, then a different bit, then the number. No number here has more than
    /// five bytes, because all of them have at most 32 bits.
    private mutating func number() -> Int64? {
        guard let first = rest.popFirst() else { return nil }
        let isNegative = first & 0x80 == 0
        let more = (isNegative ? ~first : first).leadingOnes - 1
        guard more <= 4, rest.count >= more else { return nil }
        // The remaining bits of the first byte, with the sign extended.
        let mask = UInt8(0x7F) >> UInt8(more + 1)
        var value = isNegative ? Int64(first | ~mask) | ~0xFF : Int64(first & mask)
        for _ in 0..<more { value = value << 8 | Int64(rest.removeFirst()) }
        return value
    }
}

extension UInt8 {
    /// The number of highest bits that are 1.
    fileprivate var leadingOnes: Int { (~self).leadingZeroBitCount }
}
