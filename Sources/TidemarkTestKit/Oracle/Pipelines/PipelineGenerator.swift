package import TidemarkModel

/// Makes random documents and pipelines that validate.
package struct PipelineGenerator {
    var random: SeededRandom
    /// The variables that the next expression may use.
    var variables: [String] = []
    /// The depth of the expression in progress.
    var depth = 0

    package init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &random)
    }

    mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }

    mutating func pick<T>(_ choices: [T]) -> T { choices.randomElement(using: &random)! }

    // MARK: Values

    mutating func value(depth: Int = 0) -> Value {
        switch number(0...(depth < 2 ? 15 : 10)) {
        case 0: .null
        case 1: .boolean(chance(50))
        case 2, 3, 4: .integer(Int64(number(-2...3)))
        case 5, 6: .double(Double(number(-4...6)) / 2)
        case 7: .double(pick([.nan, .infinity, -0.0]))
        case 8, 9: .string(text())
        case 10: .timestamp(Timestamp(seconds: Int64(number(0...2)), nanoseconds: 0))
        case 11, 12: .array((0..<number(0...3)).map { _ in value(depth: depth + 1) })
        case 13, 14: .map(map(depth: depth + 1))
        default: .vector(VectorValue((0..<number(1...2)).map { _ in Double(number(0...1)) }))
        }
    }

    mutating func text() -> String { pick(["", "a", "b", "ab", "ba", "a,b"]) }

    mutating func map(depth: Int) -> MapValue {
        MapValue((0..<number(0...2)).map { _ in (pick(["x", "y"]), value(depth: depth)) })
    }

    package mutating func documents() -> [Document] {
        var paths = ["c/d1", "c/d2", "c/d3", "c/d4", "c/d5", "e/d1", "e/d2"]
        paths += ["c/d1/s/k1", "c/d1/s/k2", "c/d3/s/k1"]
        return paths.filter { _ in chance(85) }.map { Self.document($0, fields()) }
    }

    mutating func fields() -> MapValue {
        var fields = MapValue()
        if chance(80) { fields["a"] = value() }
        if chance(80) { fields["n"] = .integer(Int64(number(-2...3))) }
        if chance(60) { fields["n"] = .double(Double(number(-4...6)) / 2) }
        if chance(80) { fields["s"] = .string(text()) }
        if chance(70) { fields["l"] = .array((0..<number(0...3)).map { _ in value(depth: 1) }) }
        if chance(70) { fields["m"] = .map(map(depth: 1)) }
        if chance(70) { fields["b"] = chance(20) ? .null : .boolean(chance(50)) }
        return fields
    }

    static func document(_ path: String, _ fields: MapValue) -> Document {
        Document(
            path: try! DocumentPath(path), fields: fields,
            createTime: Timestamp(seconds: 1, nanoseconds: 0),
            updateTime: Timestamp(seconds: 2, nanoseconds: 0))
    }

    /// Returns documents for ``pipeline()`` or for ``scan()`` that a server stores. It refuses
    /// arrays directly in arrays.
    package mutating func storedDocuments() -> [Document] {
        let made = chance(50) ? documents() : scan().documents
        return made.map { Self.document($0.path.text, $0.fields.withoutNestedArrays) }
    }

    /// Returns the path of a document and its new fields; nil for the fields of a document that is
    /// removed.
    package mutating func change() -> (path: DocumentPath, fields: MapValue?) {
        let paths = ["c/d1", "c/d2", "c/d3", "c/d4", "c/d5", "e/d1", "c/d1/s/k1"]
        let path = try! DocumentPath(pick(paths))
        return chance(70) ? (path, fields()) : (path, nil)
    }
}

extension MapValue {
    /// The fields, where each array directly in an array is its number of elements.
    package var withoutNestedArrays: MapValue {
        MapValue(map { ($0.key, $0.value.withoutNestedArrays) })
    }
}

extension Value {
    fileprivate var withoutNestedArrays: Value {
        switch self {
        case .map(let fields): return .map(fields.withoutNestedArrays)
        case .array(let elements):
            return .array(
                elements.map { element in
                    if case .array(let inner) = element { return .integer(Int64(inner.count)) }
                    return element.withoutNestedArrays
                })
        default: return self
        }
    }
}
