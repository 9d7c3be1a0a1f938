import TidemarkPatterns

/// An expression with resolved names, ready for evaluation.
final class Node: Sendable {
    let operation: Operation
    /// The position in the file, in bytes.
    let start: Int
    let end: Int

    init(_ operation: Operation, start: Int, end: Int) {
        self.operation = operation
        self.start = start
        self.end = end
    }

    enum Operation: Sendable {
        case constant(RulesValue)
        /// A parameter or a variable of the function, by its number.
        case local(Int)
        /// The value of a wildcard of the path, by its number from the left.
        case capture(Int)
        case request
        case resource
        /// An undefined name.
        case unknownName(String)
        case list([Node])
        case map([(key: Node, value: Node)])
        case path([PathPart])
        case not(Node)
        case negative(Node)
        case and([Node])
        case or([Node])
        /// With the place of the operator, in bytes.
        case binary(BinaryOperator, Node, Node, symbolStart: Int)
        case conditional(Node, Node, Node)
        case isType(Node, TypeName)
        case member(Node, String)
        case index(Node, Node)
        case slice(Node, Node, Node)
        /// A function of the file, by its number.
        case function(Int, [Node])
        case builtin(Builtin, [Node], nameStart: Int)
        /// A method call, with the pattern if the first argument is a literal.
        case method(Node, Method, [Node], Pattern?, nameStart: Int)
        /// A function or method that does not exist.
        case unknownFunction(String, [Node])
    }

    /// Where an error of the expression itself is reported, in bytes: at the operator where it has
    /// one between its operands, as production does, else where it begins.
    var errorStart: Int {
        if case .binary(_, _, _, let symbolStart) = operation { symbolStart } else { start }
    }

    enum PathPart: Sendable {
        case text(String)
        case node(Node)
    }

    /// The types that can follow `is`.
    enum TypeName: String, Sendable, CaseIterable {
        case bool, bytes, float, int, list, latlng, map, number, path, string, timestamp, duration
        case constraint
        case mapDiff = "map_diff"
        case set
    }

    /// The direct children, from left to right.
    var children: [Node] {
        switch operation {
        case .constant, .local, .capture, .request, .resource, .unknownName: []
        case .list(let nodes), .and(let nodes), .or(let nodes), .function(_, let nodes),
            .builtin(_, let nodes, _), .unknownFunction(_, let nodes):
            nodes
        case .map(let entries): entries.flatMap { [$0.key, $0.value] }
        case .path(let parts):
            parts.compactMap { if case .node(let node) = $0 { node } else { nil } }
        case .not(let node), .negative(let node), .isType(let node, _), .member(let node, _): [node]
        case .binary(_, let left, let right, _): [left, right]
        case .index(let value, let index): [value, index]
        case .conditional(let a, let b, let c), .slice(let a, let b, let c): [a, b, c]
        case .method(let receiver, _, let nodes, _, _): [receiver] + nodes
        }
    }
}

/// The functions without a receiver.
enum Builtin: String, Sendable, CaseIterable {
    case get, exists, getAfter, existsAfter, debug
    case int, float, string, path
    case abs = "math.abs"
    case ceil = "math.ceil"
    case floor = "math.floor"
    case round = "math.round"
    case sqrt = "math.sqrt"
    case pow = "math.pow"
    case isNaN = "math.isNaN"
    case crc32 = "hashing.crc32"
    case crc32c = "hashing.crc32c"
    case md5 = "hashing.md5"
    case sha256 = "hashing.sha256"
    case timestampDate = "timestamp.date"
    case timestampValue = "timestamp.value"
    case durationValue = "duration.value"
    case durationTime = "duration.time"
    case durationAbs = "duration.abs"
    case latlngValue = "latlng.value"

    static let namespaces: Set<String> = ["math", "hashing", "timestamp", "duration", "latlng"]

    /// True if the function reads a document.
    var isRead: Bool {
        switch self {
        case .get, .exists, .getAfter, .existsAfter: true
        default: false
        }
    }
}

/// The methods of values. The evaluation checks whether a type has the method.
enum Method: String, Sendable, CaseIterable {
    case size, lower, upper, trim, split, matches, replace, toUtf8
    case toBase64, toHexString
    case concat, join, hasAll, hasAny, hasOnly, removeAll, toSet
    case union, intersection, difference
    case keys, values, get, diff
    case addedKeys, removedKeys, changedKeys, affectedKeys, unchangedKeys
    case bind
    case year, month, day, hours, minutes, seconds, nanos, dayOfWeek, dayOfYear, date, time
    case toMillis
    case latitude, longitude, distance
}
