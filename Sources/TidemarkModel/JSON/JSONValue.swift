/// A JSON value whose parts are parsed when they are read.
///
/// An object keeps all of its members: also two names that differ only in how an accent is
/// composed, and two equal names. `JSONSerialization` and `JSONDecoder` keep one of the two,
/// because their objects are dictionaries.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number with a point or an exponent, or an integer of more than 64 bits. The number can be
    /// infinite.
    case number(Double)
    case text(String)
    case list(JSONList)
    case object(JSONObject)

    /// The maximum depth of lists and objects: the limit of `JSONSerialization`.
    package static let maxDepth = 512

    /// Checks the whole text. Values are parsed when they are read.
    ///
    /// - Parameters:
    ///   - bytes: The JSON text in UTF-8. The value keeps the text, and eight bytes for each value
    ///     and name in it.
    ///   - maxValues: The maximum number of values and names.
    /// - Throws: The fault of the text and its place.
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

    /// The elements of a list; empty for another value.
    package var elements: [JSONValue] {
        if case .list(let elements) = self { Array(elements) } else { [] }
    }

    package var text: String? { if case .text(let text) = self { text } else { nil } }
}

/// The source of elements: a place in a text, or values in memory.
private enum JSONSource<Element: Sendable>: Sendable {
    case read(JSONTape, Int)
    case values([Element])
}

/// The elements of a list. An iteration parses each element once.
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

/// The members of an object, in the order of the text. An iteration parses each member once.
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

    /// The value of the last member whose name has the same bytes; nil if there is none. Takes time
    /// proportional to the number of members. A new value replaces all members with the name.
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
