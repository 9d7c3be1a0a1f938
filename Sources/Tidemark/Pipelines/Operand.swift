import Foundation

/// Converts what an app passes to a function of pipelines.
enum Operand {
    typealias Form = Result<PipelineValue.Expression, FirestoreError>

    /// Returns the form of an expression, of another part of a pipeline, of a value that a document
    /// can hold, or of an array or a dictionary of these.
    static func form(of any: Any) -> Form {
        switch any {
        case let expression as any Expression: expression.wireForm
        case let aggregate as AggregateFunction: aggregate.wireForm
        case let ordering as Ordering: ordering.wireForm
        case let pipeline as Pipeline: NestedPipeline(pipeline).wireForm
        case let pairs as [String: Any]: call("map", members(of: pairs))
        case let elements as [Any] where !(any is Data): call("array", forms(of: elements))
        default: value(any).map { PipelineValue.Expression($0) }
        }
    }

    static func forms(of all: [Any]) -> Result<[PipelineValue.Expression], FirestoreError> {
        Result { () throws(FirestoreError) in
            var forms: [PipelineValue.Expression] = []
            forms.reserveCapacity(all.count)
            for any in all { forms.append(try form(of: any).get()) }
            return forms
        }
    }

    /// Returns the call of a function.
    static func call(
        _ name: String, _ arguments: Result<[PipelineValue.Expression], FirestoreError>
    ) -> Form {
        arguments.map { .call(name, $0) }
    }

    /// Returns a list of values in the form that conditions over lists use.
    static func list(_ elements: [any Sendable]) -> List {
        List(wireForm: forms(of: elements).map { .array($0) })
    }

    struct List: Expression { let wireForm: Form }

    /// Returns named values, sorted by their names.
    static func entries(
        _ pairs: [String: any Sendable]
    ) -> Result<[PipelineValue.Entry], FirestoreError> {
        Result { () throws(FirestoreError) in
            var entries: [PipelineValue.Entry] = []
            for (key, value) in pairs.sorted(by: { $0.key.precedesInBytes($1.key) }) {
                entries.append(PipelineValue.Entry(key: key, value: try form(of: value).get()))
            }
            return entries
        }
    }

    private static func members(
        of pairs: [String: Any]
    ) -> Result<[PipelineValue.Expression], FirestoreError> {
        let sorted = pairs.sorted { $0.key.precedesInBytes($1.key) }
        return forms(of: sorted.flatMap { [$0.key, $0.value] })
    }

    private static func value(_ any: Any) -> Result<Value, FirestoreError> {
        Result { () throws(FirestoreError) in try ValueParser.value(any) }
    }
}
