/// A pipeline as a client sends it: stages that read documents and change rows, in order.
///
/// The type checks nothing: a name can be unknown, and an argument can be of a wrong kind.
public struct Pipeline: Hashable, Sendable {
    public var stages: [Stage]

    public init(stages: [Stage]) { self.stages = stages }

    /// A stage: a name with positional arguments and named options.
    public struct Stage: Hashable, Sendable {
        public var name: String
        public var arguments: [Expression]
        /// The options, each key once.
        public var options: [Entry]

        public init(name: String, arguments: [Expression] = [], options: [Entry] = []) {
            self.name = name
            self.arguments = arguments
            self.options = options
        }
    }

    /// A key and its expression, in a map or among options.
    public struct Entry: Hashable, Sendable {
        public var key: String
        public var value: Expression

        public init(key: String, value: Expression) {
            self.key = key
            self.value = value
        }

        public static func == (left: Entry, right: Entry) -> Bool {
            left.key.hasSameBytes(as: right.key) && left.value == right.value
        }

        public func hash(into hasher: inout Hasher) {
            key.hashBytes(into: &hasher)
            hasher.combine(value)
        }
    }

    /// A value of the wire that may contain fields, variables, functions and pipelines.
    public indirect enum Expression: Hashable, Sendable {
        /// A value that is neither a reference, an array nor a map.
        case constant(Value)
        /// A reference as sent: `/books`, `/books/b1`, an absolute name, or an empty text.
        case reference(String)
        /// The path of a field as sent, for example `awards.hugo`.
        case field(String)
        case variable(String)
        case function(name: String, arguments: [Expression], options: [Entry])
        case pipeline(Pipeline)
        case array([Expression])
        /// A map, with its entries as sent, each key once.
        case map([Entry])
    }
}

extension Pipeline.Expression {
    /// Makes a call of a function without options.
    package static func call(_ name: String, _ arguments: [Self]) -> Self {
        .function(name: name, arguments: arguments, options: [])
    }

    /// Makes the expression of a constant, in the form in which a request carries it.
    package init(_ value: Value) {
        switch value {
        case .reference(let name): self = .reference(name.name)
        case .array(let elements): self = .array(elements.map(Self.init))
        case .map(let fields):
            self = .map(
                fields.entries.map { Pipeline.Entry(key: $0.key, value: Self($0.value)) })
        default: self = .constant(value)
        }
    }
}
