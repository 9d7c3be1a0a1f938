/// JSON, one level at a time.
///
/// An object keeps all of its members: names that differ only in how an accent is composed are two
/// names, and one that is there twice is there twice. `JSONSerialization` and `JSONDecoder` keep
/// one of them, because their objects are dictionaries.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// What has a point or an exponent, or does not fit into 64 bits with a sign. It may be
    /// infinite.
    case number(Double)
    case text(String)
    case list(JSONList)
    case object(JSONObject)

    /// The largest number of groups inside each other, as `JSONSerialization` has it.
    package static let maxDepth = 512

    /// Checks the whole text. What is in it is read where it is asked for.
    ///
    /// - Parameters:
    ///   - bytes: JSON in UTF-8. They are kept, and eight bytes for each value and name beside
    ///     them.
    ///   - maxValues: The largest number of values and names.
    /// - Throws: What is wrong with the text, and where.
    package init(_ bytes: [UInt8], maxValues: Int = .max) throws(JSONFault) {
        let tape = try JSONTape(bytes, maxDepth: Self.maxDepth, maxValues: maxValues)
        self.init(tape, 0)
    }

    init(_ tape: JSONTape, _ entry: Int) {
        let start = tape.entries.start(of: entry)
        self = tape.text.withUnsafeBufferPointer { text in
            switch text[start] {
            case UInt8(ascii: "{"): .object(JSONObject(tape, entry))
            case UInt8(ascii: "["): .list(JSONList(tape, entry))
            case UInt8(ascii: "\""): .text(JSONText.string(in: text, at: start))
            case UInt8(ascii: "t"): .bool(true)
            case UInt8(ascii: "f"): .bool(false)
            case UInt8(ascii: "n"): .null
            default: JSONText.number(in: text, at: start)
            }
        }
    }

    package var object: JSONObject? { if case .object(let object) = self { object } else { nil } }

    /// A list's elements; none of any other value.
    package var elements: [JSONValue] {
        if case .list(let elements) = self { Array(elements) } else { [] }
    }

    package var text: String? { if case .text(let text) = self { text } else { nil } }
}

/// A place in a text, or values that are not read from a text.
private enum JSONSource<Element: Sendable>: Sendable {
    case read(JSONTape, Int)
    case values([Element])
}

/// A list's elements. To go through them reads each once.
package struct JSONList: Sequence, Sendable, ExpressibleByArrayLiteral {
    private let place: JSONSource<JSONValue>

    init(_ tape: JSONTape, _ entry: Int) { place = .read(tape, entry) }
    package init(_ elements: [JSONValue]) { place = .values(elements) }
    package init(arrayLiteral elements: JSONValue...) { self.init(elements) }

    package func makeIterator() -> AnyIterator<JSONValue> {
        switch place {
        case .values(let elements): return AnyIterator(elements.makeIterator())
        case .read(let tape, let list):
            let end = tape.entries.next(after: list)
            var entry = list + 1
            return AnyIterator {
                guard entry < end else { return nil }
                defer { entry = tape.entries.next(after: entry) }
                return JSONValue(tape, entry)
            }
        }
    }
}

/// An object's members, in the order of the text. To go through them reads each once.
package struct JSONObject: Sequence, Sendable, ExpressibleByDictionaryLiteral {
    package typealias Element = (name: String, value: JSONValue)

    private var place: JSONSource<Element>

    init(_ tape: JSONTape, _ entry: Int) { place = .read(tape, entry) }
    package init(_ members: [Element] = []) { place = .values(members) }

    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements.map { (name: $0, value: $1) })
    }

    package func makeIterator() -> AnyIterator<Element> {
        switch place {
        case .values(let members): return AnyIterator(members.makeIterator())
        case .read(let tape, let object):
            let end = tape.entries.next(after: object)
            var entry = object + 1
            return AnyIterator {
                guard entry < end else { return nil }
                defer { entry = tape.entries.next(after: entry + 1) }
                guard case .text(let name) = JSONValue(tape, entry) else {
                    preconditionFailure("a member begins with its name")
                }
                return (name, JSONValue(tape, entry + 1))
            }
        }
    }

    /// The value of the last member whose name has the same bytes; nil for none. Goes through all
    /// members. Setting it replaces all members of the name.
    package subscript(name: String) -> JSONValue? {
        get {
            var result: JSONValue?
            for member in self where member.name.hasSameBytes(as: name) { result = member.value }
            return result
        }
        set {
            var members = filter { !$0.name.hasSameBytes(as: name) }
            if let newValue { members.append((name, newValue)) }
            place = .values(members)
        }
    }
}
