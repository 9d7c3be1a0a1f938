/// A path to a field through maps, for example `address.city`. A name that is not a plain word is
/// quoted.
public struct FieldPath: Sendable {
    /// Never empty; no segment is empty.
    public let segments: [String]

    /// - Throws: ``InvalidPath`` if there is no segment, or if a segment is empty or too long.
    public init(segments: [String]) throws(InvalidPath) {
        if segments.isEmpty { throw .fieldSyntax("") }
        for segment in segments {
            if segment.isEmpty { throw .emptySegment(in: segments.joined(separator: ".")) }
            let bytes = segment.utf8.count
            if bytes > Self.maxSegmentBytes {
                throw .tooLong(bytes: bytes, limit: Self.maxSegmentBytes)
            }
        }
        self.segments = segments
    }

    package init(unchecked segments: [String]) {
        precondition(!segments.isEmpty)
        self.segments = segments
    }

    /// Makes a path of one segment. Dots in `name` do not separate segments.
    package init(name: String) { self.init(unchecked: [name]) }

    /// The maximum length of a segment in bytes. Source: limits of production, server-protocol 2.1.
    static let maxSegmentBytes = 1_500

    /// The document's own name as a field for filters and orders; `__name__` on the wire.
    public static let documentID = FieldPath(unchecked: ["__name__"])

    public var isDocumentID: Bool { segments.count == 1 && segments[0] == "__name__" }

    /// True if `other` equals this path or lies below it.
    public func isPrefix(of other: FieldPath) -> Bool {
        segments.count <= other.segments.count
            && zip(segments, other.segments).allSatisfy { $0.hasSameBytes(as: $1) }
    }

    public func appending(_ segment: String) -> FieldPath {
        FieldPath(unchecked: segments + [segment])
    }
}

extension FieldPath: Hashable, Comparable, CustomStringConvertible {
    public static func == (left: Self, right: Self) -> Bool {
        left.segments.count == right.segments.count && left.isPrefix(of: right)
    }

    public func hash(into hasher: inout Hasher) {
        for segment in segments { segment.hashBytes(into: &hasher) }
    }

    /// Compares segment by segment, by bytes.
    public static func < (left: Self, right: Self) -> Bool {
        for (a, b) in zip(left.segments, right.segments) where !a.hasSameBytes(as: b) {
            return a.precedesInBytes(b)
        }
        return left.segments.count < right.segments.count
    }

    public var description: String { encoded }
}

extension FieldPath {
    /// The wire form: plain words are bare; other names are in backticks, with `\` before `\` and
    /// backtick.
    public var encoded: String {
        segments.count == 1
            ? Self.quoted(segments[0]) : segments.map(Self.quoted).joined(separator: ".")
    }

    private static func quoted(_ segment: String) -> String {
        if isPlain(segment) { return segment }
        var result = "`"
        for scalar in segment.unicodeScalars {
            if scalar == "`" || scalar == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result + "`"
    }

    /// True if the segment matches `[a-zA-Z_][a-zA-Z_0-9]*`.
    private static func isPlain(_ segment: String) -> Bool {
        for (index, byte) in segment.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "_"):
                continue
            case UInt8(ascii: "0")...UInt8(ascii: "9"): if index == 0 { return false }
            default: return false
            }
        }
        return !segment.isEmpty
    }

    /// Parses the wire form.
    ///
    /// - Throws: ``InvalidPath/fieldSyntax(_:)`` if a bare segment is not a plain word or a quote
    ///   is not closed.
    public init(encoded text: String) throws(InvalidPath) {
        // Most paths are a plain word.
        if Self.isPlain(text) {
            try self.init(segments: [text])
            return
        }
        var segments: [String] = []
        var rest = Substring(text).unicodeScalars
        repeat {
            guard let segment = Self.takeSegment(&rest) else { throw .fieldSyntax(text) }
            segments.append(segment)
            if rest.isEmpty { break }
            guard rest.removeFirst() == ".", !rest.isEmpty else { throw .fieldSyntax(text) }
        } while true
        try self.init(segments: segments)
    }

    private static func takeSegment(_ rest: inout Substring.UnicodeScalarView) -> String? {
        var result = String.UnicodeScalarView()
        guard rest.first == "`" else {
            while let next = rest.first, next != "." { result.append(rest.removeFirst()) }
            let segment = String(result)
            return isPlain(segment) ? segment : nil
        }
        rest.removeFirst()
        while let next = rest.popFirst() {
            switch next {
            case "`": return String(result)
            case "\\":
                guard let escaped = rest.popFirst() else { return nil }
                result.append(escaped)
            default: result.append(next)
            }
        }
        return nil
    }
}
