public import Foundation

/// A computation over one row of a pipeline: a field, a constant, or a function of others.
///
/// Most functions accept an expression or a constant. A constant is a value that a document can
/// hold; an array or a dictionary can hold expressions, too. A mistake, for example an empty field
/// name, is thrown by ``Pipeline-class/execute(within:)``.
public protocol Expression: Sendable {
    /// The expression in the form of a request, or the mistake in it.
    var wireForm: Result<PipelineValue.Expression, FirestoreError> { get }
}

/// An expression that is true, false or null. Only true counts as a condition.
public protocol BooleanExpression: Expression {}

/// An expression with a name, for a stage that adds fields.
public protocol Selectable: Sendable {
    /// The name of the field that the value gets. Dots separate the names of nested fields.
    var alias: String { get }
    var expression: any Expression { get }
}

/// A value with a name: a field to add, or a variable to define.
public struct AliasedExpression: Selectable {
    public let alias: String
    public let expression: any Expression

    init(_ expression: any Expression, alias: String) {
        self.expression = expression
        self.alias = alias
    }
}

/// A field of the row. `__name__`, `__create_time__` and `__update_time__` are parts of the row's
/// document.
public struct Field: Expression, Selectable {
    /// The path, such as `awards.hugo`.
    public let fieldName: String
    let path: Result<FieldPath, FirestoreError>

    /// - Parameter name: The name; dots separate the names of nested fields.
    public init(_ name: String) {
        fieldName = name
        path = Result { () throws(FirestoreError) in try name.resolved() }
    }

    public init(_ path: FieldPath) {
        fieldName = path.encoded
        self.path = Result { () throws(FirestoreError) in try path.resolved() }
    }

    public var alias: String { (try? path.get().encoded) ?? fieldName }
    public var expression: any Expression { self }
    public var wireForm: Result<PipelineValue.Expression, FirestoreError> {
        path.map { .field($0.encoded) }
    }

    /// Returns the distance from a geo point in metres, in a condition or order of a search.
    public func geoDistance(_ location: GeoPoint) -> any Expression {
        FunctionExpression("geo_distance", self, Constant(location))
    }
}

/// A value that is the same for all rows.
public struct Constant: Expression {
    public let wireForm: Result<PipelineValue.Expression, FirestoreError>

    /// Null.
    public static let `nil` = Constant(form: .success(.constant(.null)))

    private init(form: Operand.Form) { wireForm = form }
    private init(value: Any) { wireForm = Operand.form(of: value) }

    public init(_ value: Int) { self.init(value: value) }
    public init(_ value: Double) { self.init(value: value) }
    public init(_ value: String) { self.init(value: value) }
    public init(_ value: Bool) { self.init(value: value) }
    public init(_ value: Data) { self.init(value: value) }
    public init(_ value: GeoPoint) { self.init(value: value) }
    public init(_ value: Timestamp) { self.init(value: value) }
    public init(_ value: Date) { self.init(value: value) }
    public init(_ value: DocumentReference) { self.init(value: value) }
    public init(_ value: VectorValue) { self.init(value: value) }
}

/// A variable that an earlier stage `define`, or a stage around a subquery, has bound.
public struct Variable: Expression {
    public let wireForm: Result<PipelineValue.Expression, FirestoreError>

    public init(_ name: String) { wireForm = .success(.variable(name)) }
}

/// The row's document as a map, with its name under `__name__`.
public struct CurrentDocument: Expression {
    public var wireForm: Result<PipelineValue.Expression, FirestoreError> {
        .success(.call("current_document", []))
    }

    public init() {}
}

/// The rank of a row in a search.
public struct Score: Expression {
    public var wireForm: Result<PipelineValue.Expression, FirestoreError> {
        .success(.call("score", []))
    }

    public init() {}
}

/// True for documents that contain the words of a search.
public struct DocumentMatches: BooleanExpression {
    public let wireForm: Result<PipelineValue.Expression, FirestoreError>

    /// - Parameter query: The words. A `-` before a word excludes documents with it.
    public init(_ query: String) {
        wireForm = .success(.call("document_matches", [.constant(.string(query))]))
    }
}

/// A condition of which only the form is known.
struct Condition: BooleanExpression {
    let wireForm: Result<PipelineValue.Expression, FirestoreError>

    init(_ expression: any Expression) { wireForm = expression.wireForm }

    init(_ name: String, _ operands: any Sendable...) {
        wireForm = Operand.call(name, Operand.forms(of: operands))
    }

    init(_ name: String, all operands: [any Expression]) {
        wireForm = Operand.call(name, Operand.forms(of: operands))
    }
}

/// The pipeline of a subquery or a union.
struct NestedPipeline: Expression {
    let wireForm: Result<PipelineValue.Expression, FirestoreError>

    init(_ pipeline: Pipeline) {
        wireForm = pipeline.value.map { .pipeline($0) }
    }
}
