/// The reason why a text is not a valid path. ``message`` explains it in one sentence.
public enum InvalidPath: Error, Hashable, Sendable {
    case emptySegment(in: String)
    case slash(in: String)
    case namesCollection(String)
    case namesDocument(String)
    case reservedID(String)
    case tooLong(bytes: Int, limit: Int)
    case otherDatabase(String)
    case notAName(String)
    case fieldSyntax(String)

    public var message: String {
        switch self {
        case .emptySegment(let text): "The path \"\(text)\" has an empty segment."
        case .slash(let text): "The id \"\(text)\" holds a slash."
        case .namesCollection(let text): "\"\(text)\" names a collection, not a document."
        case .namesDocument(let text): "\"\(text)\" names a document, not a collection."
        case .reservedID(let id): "The id \"\(id)\" is reserved."
        case .tooLong(let bytes, let limit):
            "An id of \(bytes) bytes is over the limit of \(limit)."
        case .otherDatabase(let text): "\"\(text)\" belongs to another database."
        case .notAName(let text): "\"\(text)\" is no document name."
        case .fieldSyntax(let text): "\"\(text)\" is no field path."
        }
    }
}

/// The name of a document inside its database: pairs of collection and id, for example
/// `rooms/blue/messages/7`.
///
/// Stored as one string, because no segment can hold a slash. Equality and hashes use the bytes.
public struct DocumentPath: Sendable {
    /// The segments joined by slashes. Never empty.
    public let text: String
    /// The hash of the bytes, with the seed of this process. Computed once, because a change of a
    /// document looks up its path in about a dozen sets, most of them larger than a processor's
    /// cache.
    @usableFromInline let digest: Int

    /// - Throws: ``InvalidPath`` if a segment is empty, reserved or too long, or if `text` names a
    ///   collection.
    public init(_ text: String) throws(InvalidPath) {
        let count = try PathRules.countSegments(of: text)
        if !count.isMultiple(of: 2) { throw .namesCollection(text) }
        self.init(unchecked: text)
    }

    /// Wraps a text that is known to be a valid path: from this module, or from a store that holds
    /// only valid paths.
    package init(unchecked text: String) {
        self.text = text
        var hasher = Hasher()
        text.hashBytes(into: &hasher)
        digest = hasher.finalize()
    }

    public var segments: [String] { text.pathSegments }
    /// The last segment of the path.
    public var id: String { text.lastPathSegment }
    /// The collection that holds the document.
    public var parent: CollectionPath { CollectionPath(unchecked: text.withoutLastPathSegment) }
    /// The id of the collection that holds the document.
    public var collectionID: String { parent.id }

    /// - Throws: ``InvalidPath``, like ``CollectionPath/init(_:)``.
    public func collection(_ id: String) throws(InvalidPath) -> CollectionPath {
        try CollectionPath(text + "/" + id)
    }

    /// Returns the absolute name, for example `projects/P/databases/D/documents/rooms/blue`.
    public func name(in database: DatabaseID) -> String { database.documentsRoot + "/" + text }

    /// Compares segment by segment: `__id7__` ids come first, ordered by number; then all others,
    /// ordered by bytes.
    public static func compare(_ left: DocumentPath, _ right: DocumentPath) -> Comparison {
        PathRules.compare(left.text, right.text)
    }
}

/// The name of a collection inside its database, for example `rooms/blue/messages`.
public struct CollectionPath: Sendable {
    public let text: String

    /// - Throws: ``InvalidPath`` if a segment is empty, reserved or too long, or if `text` names a
    ///   document.
    public init(_ text: String) throws(InvalidPath) {
        let count = try PathRules.countSegments(of: text)
        if count.isMultiple(of: 2) { throw .namesDocument(text) }
        self.text = text
    }

    package init(unchecked text: String) { self.text = text }

    public var segments: [String] { text.pathSegments }
    public var id: String { text.lastPathSegment }
    /// The document that holds this collection; nil for a collection at the root.
    public var parent: DocumentPath? {
        text.utf8.contains(UInt8(ascii: "/"))
            ? DocumentPath(unchecked: text.withoutLastPathSegment) : nil
    }

    /// - Throws: ``InvalidPath``, like ``DocumentPath/init(_:)``.
    public func document(_ id: String) throws(InvalidPath) -> DocumentPath {
        try DocumentPath(text + "/" + id)
    }
}

extension DocumentPath: Hashable, Comparable, CustomStringConvertible {
    @inlinable
    public static func == (left: Self, right: Self) -> Bool {
        left.digest == right.digest && left.hasSameText(as: right)
    }
    @inlinable
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
    @usableFromInline
    func hasSameText(as other: Self) -> Bool { text.hasSameBytes(as: other.text) }
    public static func < (left: Self, right: Self) -> Bool { compare(left, right) == .ascending }
    public var description: String { text }
}

extension CollectionPath: Hashable, CustomStringConvertible {
    public static func == (left: Self, right: Self) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }
    public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
    public var description: String { text }
}

extension String {
    fileprivate var pathSegments: [String] {
        utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    fileprivate var lastPathSegment: String {
        withBytes { bytes in
            let start = PathRules.startOfLastSegment(in: bytes)
            return start == 0
                ? self : String(decoding: bytes[start...], as: UTF8.self)
        }
    }

    fileprivate var withoutLastPathSegment: String {
        withBytes { bytes in
            let start = PathRules.startOfLastSegment(in: bytes)
            return start == 0 ? "" : String(decoding: bytes[..<(start - 1)], as: UTF8.self)
        }
    }
}

/// Firestore's rules for ids, and their order.
package enum PathRules {
    /// The maximum length of an id in bytes. Source: limits of production, server-protocol 2.1.
    static let maxIDBytes = 1_500

    static func countSegments(of text: String) throws(InvalidPath) -> Int {
        let result: Result<Int, InvalidPath> = text.withBytes { bytes in
            var count = 0
            var rest = bytes[...]
            while true {
                let segment = rest.prefix { $0 != UInt8(ascii: "/") }
                if let fault = fault(of: segment, in: text) { return .failure(fault) }
                count += 1
                if segment.endIndex == rest.endIndex { return .success(count) }
                rest = rest[(segment.endIndex + 1)...]
            }
        }
        return try result.get()
    }

    private static func fault(of segment: Bytes, in text: String) -> InvalidPath? {
        if segment.isEmpty { return .emptySegment(in: text) }
        if segment.count > maxIDBytes {
            return .tooLong(bytes: segment.count, limit: maxIDBytes)
        }
        if isReserved(segment) { return .reservedID(String(decoding: segment, as: UTF8.self)) }
        return nil
    }

    /// True for `.`, `..` and `__.+__`. Numeric ids `__id7__`, which Datastore made, are not
    /// reserved, because such documents exist.
    static func isReserved(_ id: some BidirectionalCollection<UInt8>) -> Bool {
        let dot = UInt8(ascii: ".")
        if id.count <= 2, id.allSatisfy({ $0 == dot }) { return true }
        let bar = UInt8(ascii: "_")
        guard id.first == bar, id.count > 4, id.prefix(2).allSatisfy({ $0 == bar }),
            id.suffix(2).allSatisfy({ $0 == bar })
        else { return false }
        return numericID(id) == nil
    }

    /// Returns the number in `__id<n>__`. Accepts only the canonical decimal form: if `__id07__`
    /// also meant 7, two names would have the same position in the order.
    @inlinable
    package static func numericID(_ id: some BidirectionalCollection<UInt8>) -> Int64? {
        guard id.first == UInt8(ascii: "_"), id.count > 6, id.starts(with: "__id".utf8),
            id.suffix(2).elementsEqual("__".utf8)
        else { return nil }
        let digits = id.dropFirst(4).dropLast(2)
        guard let number = Int64(String(decoding: digits, as: UTF8.self)),
            String(number).utf8.elementsEqual(digits)
        else { return nil }
        return number
    }

    /// Returns the index after the last slash; 0 if the path has only one segment.
    static func startOfLastSegment(in path: UnsafeBufferPointer<UInt8>) -> Int {
        var start = path.count
        while start > 0, path[start - 1] != UInt8(ascii: "/") { start -= 1 }
        return start
    }

    static func compare(_ left: String, _ right: String) -> Comparison {
        left.withBytes { a in right.withBytes { b in compare(a, b) } }
    }

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private static func compare(
        _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
    ) -> Comparison {
        var (a, b) = (0, 0)
        while a < left.count && b < right.count {
            let (x, y) = (endOfSegment(at: a, left), endOfSegment(at: b, right))
            let order = compareIDs(left[a..<x], right[b..<y])
            if order != .equal { return order }
            (a, b) = (min(x + 1, left.count), min(y + 1, right.count))
        }
        // A path comes before the paths below it.
        return Comparison(left.count - a, right.count - b)
    }

    private static func endOfSegment(at start: Int, _ path: UnsafeBufferPointer<UInt8>) -> Int {
        var end = start
        while end < path.count, path[end] != UInt8(ascii: "/") { end += 1 }
        return end
    }

    private static func compareIDs(_ a: Bytes, _ b: Bytes) -> Comparison {
        switch (numericID(a), numericID(b)) {
        case (let x?, let y?): Comparison(x, y)
        case (_?, nil): .ascending
        case (nil, _?): .descending
        case (nil, nil):
            .bytes(UnsafeBufferPointer(rebasing: a), UnsafeBufferPointer(rebasing: b))
        }
    }
}
