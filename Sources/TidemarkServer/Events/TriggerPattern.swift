package import TidemarkModel

/// The documents of a trigger, such as `rooms/{room}/messages/{message}`.
///
/// `{name}`, `{name=*}` and `*` stand for one segment of a path. `{name=**}` and `**` stand for one
/// or more segments, and a pattern has at most one of them. All other segments are compared by
/// bytes. A pattern ends at a document.
package struct TriggerPattern: Sendable {
    private enum Segment: Sendable {
        case literal(String)
        /// A wildcard; its name is nil if it has none.
        case one(String?)
        case many(String?)

        var isMany: Bool { if case .many = self { true } else { false } }
    }

    package let text: String
    /// True if the text is a path, in which braces and stars have no meaning.
    package let isLiteral: Bool
    private let segments: [Segment]
    /// The index of the segment that stands for several; nil for none.
    private let many: Int?

    /// The maximum length of a pattern in bytes.
    package static let maxBytes = 6_144

    /// - Parameter text: A path relative to the database. A slash at its start or end is ignored.
    /// - Throws: ``InvalidTrigger`` with a sentence.
    package init(_ text: String, isLiteral: Bool = false) throws(InvalidTrigger) {
        if text.utf8.count > Self.maxBytes {
            throw InvalidTrigger("A document pattern has at most \(Self.maxBytes) bytes.")
        }
        let parts = Self.parts(of: text)
        if parts.isEmpty || parts.contains("") {
            throw InvalidTrigger("The document pattern \"\(text)\" has an empty segment.")
        }
        var segments: [Segment] = []
        for part in parts {
            segments.append(isLiteral ? .literal(part) : try Self.segment(part, of: text))
        }
        let manies = segments.indices.filter { segments[$0].isMany }
        if manies.count > 1 {
            throw InvalidTrigger("The document pattern \"\(text)\" has more than one \"**\".")
        }
        if manies.isEmpty, !segments.count.isMultiple(of: 2) {
            throw InvalidTrigger("The document pattern \"\(text)\" names a collection.")
        }
        self.text = parts.joined(separator: "/")
        self.isLiteral = isLiteral
        self.segments = segments
        many = manies.first
    }

    /// Splits by bytes: a slash followed by a combining character is a slash too.
    private static func parts(of text: String) -> [String] {
        let slash = UInt8(ascii: "/")
        var parts = text.utf8.split(separator: slash, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        if parts.count > 1, parts.first?.isEmpty == true { parts.removeFirst() }
        if parts.count > 1, parts.last?.isEmpty == true { parts.removeLast() }
        return parts
    }

    private static func segment(
        _ part: String, of text: String
    ) throws(InvalidTrigger) -> Segment {
        switch part {
        case "*": return .one(nil)
        case "**": return .many(nil)
        default: break
        }
        let bytes = Array(part.utf8)
        let (open, close) = (UInt8(ascii: "{"), UInt8(ascii: "}"))
        if !bytes.contains(open), !bytes.contains(close) { return .literal(part) }
        let inner = bytes.dropFirst().dropLast()
        guard bytes.first == open, bytes.last == close, bytes.count > 2, !inner.contains(open),
            !inner.contains(close)
        else { throw InvalidTrigger("\"\(part)\" in the document pattern \"\(text)\" is invalid.") }
        let sides = inner.split(
            separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        if sides[0].isEmpty {
            throw InvalidTrigger("A wildcard in the document pattern \"\(text)\" has no name.")
        }
        let name = String(decoding: sides[0], as: UTF8.self)
        if sides.count == 1 { return .one(name) }
        switch String(decoding: sides[1], as: UTF8.self) {
        case "*": return .one(name)
        case "**": return .many(name)
        default:
            throw InvalidTrigger(
                "\"\(part)\" in the document pattern \"\(text)\" is neither {name=*} nor {name=**}."
            )
        }
    }

    /// The id of the collection of all matching documents; nil if there can be several.
    package var collectionID: String? {
        guard segments.count >= 2, case .literal(let id) = segments[segments.count - 2] else {
            return nil
        }
        return segments[segments.count - 1].isMany ? nil : id
    }

    package func matches(_ path: DocumentPath) -> Bool {
        let parts = path.segments
        guard let many else {
            return parts.count == segments.count
                && zip(segments, parts).allSatisfy { Self.matches($0, part: $1) }
        }
        guard parts.count >= segments.count else { return false }
        let tail = segments.count - many - 1
        return zip(segments.prefix(many), parts).allSatisfy { Self.matches($0, part: $1) }
            && zip(segments.suffix(tail), parts.suffix(tail)).allSatisfy {
                Self.matches($0, part: $1)
            }
    }

    /// Returns the parts of a matching path by the names of their wildcards.
    package func parameters(in path: DocumentPath) -> [String: String] {
        let parts = path.segments
        let surplus = max(0, parts.count - segments.count)
        var result: [String: String] = [:]
        for (index, segment) in segments.enumerated() {
            let start = index + (many.map { index > $0 } == true ? surplus : 0)
            guard start < parts.count else { break }
            switch segment {
            case .one(let name?): result[name] = parts[start]
            case .many(let name?):
                result[name] = parts[start...(start + surplus)].joined(separator: "/")
            case .literal, .one(nil), .many(nil): break
            }
        }
        return result
    }

    private static func matches(_ segment: Segment, part: String) -> Bool {
        if case .literal(let text) = segment { text.hasSameBytes(as: part) } else { true }
    }
}

/// The reason why a trigger cannot be registered, as a sentence.
package struct InvalidTrigger: Error, Hashable, Sendable {
    package let message: String

    package init(_ message: String) { self.message = message }
}
