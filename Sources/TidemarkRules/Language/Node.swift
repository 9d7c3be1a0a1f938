/// An expression whose names are resolved: what is evaluated.
final class Node: Sendable {
    let operation: Operation
    /// Its place in the file, in bytes.
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
        /// What a wildcard of the path stands for, by its number from the left.
        case capture(Int)
        case request
        case resource
        /// A name that nothing has.
        case unknownName(String)
        case list([Node])
        case map([(key: Node, value: Node)])
        case path([PathPart])
        case not(Node)
        case negative(Node)
        case and([Node])
        case or([Node])
        case binary(BinaryOperator, Node, Node)
        case conditional(Node, Node, Node)
        case isType(Node, TypeName)
        case member(Node, String)
        case index(Node, Node)
        case slice(Node, Node, Node)
        /// A function of the file, by its number.
        case function(Int, [Node])
        case builtin(Builtin, [Node], nameStart: Int)
        /// With the pattern, where the first argument is one that is written out.
        case method(Node, Method, [Node], Pattern?, nameStart: Int)
        /// A function or method that does not exist.
        case unknownFunction(String, [Node])
    }

    enum PathPart: Sendable {
        case text(String)
        case node(Node)
    }

    /// What may stand behind `is`.
    enum TypeName: String, Sendable, CaseIterable {
        case bool, bytes, float, int, list, latlng, map, number, path, string, timestamp, duration
        case constraint
        case mapDiff = "map_diff"
        case set
    }

    /// The nodes right below, from left to right.
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
        case .binary(_, let left, let right): [left, right]
        case .index(let value, let index): [value, index]
        case .conditional(let a, let b, let c), .slice(let a, let b, let c): [a, b, c]
        case .method(let receiver, _, let nodes, _, _): [receiver] + nodes
        }
    }
}

/// Functions that need no receiver.
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

    /// Whether it reads a document.
    var isRead: Bool {
        switch self {
        case .get, .exists, .getAfter, .existsAfter: true
        default: false
        }
    }
}

/// Methods of values. Which type has which is known at evaluation.
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
