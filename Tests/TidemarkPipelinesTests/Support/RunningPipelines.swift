import TidemarkModel

@testable import TidemarkPipelines

/// Reads a pipeline of one stage a line.
func pipeline(_ lines: String) -> Pipeline {
    Pipeline(stages: lines.split(separator: "\n").map { ExpressionText.stage($0) })
}

func document(_ path: String, _ fields: MapValue) -> Document {
    Document(
        path: try! DocumentPath(path), fields: fields,
        createTime: Timestamp(seconds: 1, nanoseconds: 0),
        updateTime: Timestamp(seconds: 2, nanoseconds: 0))
}

/// Returns the value of an expression without fields.
func value(_ text: String) -> Value {
    guard case .value(let value) = evaluate(ExpressionText.parse(text), [:]) else {
        preconditionFailure("\(text) has no value")
    }
    return value
}

/// Runs a pipeline to its end.
func rows(
    _ pipeline: Pipeline, over source: any PipelineSource, context: PipelineContext = testContext()
) throws(PipelineError) -> [PipelineRow] {
    let run = try pipeline.validated(in: testDatabase, limits: context.limits)
        .run(over: source, context: context)
    var rows: [PipelineRow] = []
    while let row = try run.next() { rows.append(row) }
    return rows
}

/// Returns the fields of each row of a pipeline over documents.
func fields(
    _ lines: String, over documents: [Document] = books,
    context: PipelineContext = testContext()
) throws(PipelineError) -> [MapValue] {
    try rows(pipeline(lines), over: ListSource(documents), context: context).map(\.fields)
}

/// Returns maps of a text such as `[{a: 1}, {a: 2}]`.
func maps(_ text: String) -> [MapValue] {
    value(text).arrayElements.map { value in
        guard case .map(let fields) = value else { preconditionFailure("not a map") }
        return fields
    }
}

let books = [
    document("books/b1", maps("[{t: 'A', n: 3, g: 'x', tags: ['p', 'q'], in: {k: 1, l: 2}}]")[0]),
    document("books/b2", maps("[{t: 'B', n: 1, g: 'y', tags: [], v: vec[1, 0]}]")[0]),
    document("books/b3", maps("[{t: 'C', n: 2.0, g: 'x', v: vec[0, 1]}]")[0]),
    document("books/b4", maps("[{t: 'D', n: null, g: null, tags: 7}]")[0]),
    document("books/b5", maps("[{t: 'E', g: 'y'}]")[0]),
    document("books/b1/reviews/r1", maps("[{by: 'u', stars: 5}]")[0]),
    document("books/b1/reviews/r2", maps("[{by: 'w', stars: 4}]")[0]),
    document("books/b3/reviews/r3", maps("[{by: 'u', stars: 1}]")[0]),
]

extension StreamedGroups {
    /// Adds a document, or only its fields.
    func add(_ document: Document, fieldsOnly: Bool) throws(PipelineError) {
        guard fieldsOnly else { return try add(document) }
        try document.contents.bytes.withUnsafeBufferPointer { bytes throws(PipelineError) in
            try add(FieldsInPlace(bytes: bytes))
        }
    }
}
