/// The reason why an expression has no value.
public struct RulesFailure: Error, Sendable {
    public let cause: Cause
    /// The position in the file, in bytes.
    let offset: Int

    init(cause: Cause, offset: Int) {
        self.cause = cause
        self.offset = offset
    }

    /// Why `node` has no value.
    init(_ cause: Cause, _ node: Node) { self.init(cause: cause, offset: node.errorStart) }

    public enum Cause: Hashable, Sendable {
        case undefinedProperty(String)
        case nullValue
        case functionNotFound(String)
        case divisionByZero
        case outOfBounds(index: Int64, size: Int)
        /// As in `set.difference(list)`, and what it should have been; nil for operators, of which
        /// production does not say that.
        case unsupported(received: String, expected: String?)
        /// The type of a non-boolean operand of `&&`, `||`, `!` or `?:`, or of a condition.
        case notBoolean(String)
        case outOfRange(String)
        case badPattern(String)
        case outOfEvaluations
        case tooComplex
        /// A failed read of a document: the function, the path and the reason.
        case read(String, path: String, reason: String)

        /// A sentence for the cause: production's, where it has one.
        public var message: String {
            switch self {
            case .undefinedProperty(let name): "Property \(name) is undefined on object."
            case .nullValue: "Null value error."
            case .functionNotFound(let name): "Function not found error: Name: [\(name)]."
            case .divisionByZero: "Divide by zero error."
            case .outOfBounds(let index, let size):
                "Index out of bound error. Index: [\(index)] , size: [\(size)]."
            case .unsupported(let received, let expected):
                "Unsupported operation error. Received: \(received)."
                    + (expected.map { " Expected: \($0)." } ?? "")
            case .notBoolean(let type): "Expected a boolean but got \(type)."
            case .outOfRange(let text): text
            case .badPattern(let pattern): RulesText.badPattern(pattern)
            case .outOfEvaluations: RulesText.outOfEvaluations
            case .tooComplex: RulesText.tooComplex
            case .read(let function, let path, let reason):
                "Service call error. Function: [\(function)], Argument: [\(path)]. \(reason)"
            }
        }
    }
}
