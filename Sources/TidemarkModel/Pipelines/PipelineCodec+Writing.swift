extension PipelineCodec {
    /// Writes a `Pipeline` message.
    package static func encode(_ pipeline: Pipeline) -> [UInt8] {
        var writer = WireWriter()
        write(pipeline, to: &writer)
        return writer.bytes
    }

    static func write(_ pipeline: Pipeline, to writer: inout WireWriter) {
        for stage in pipeline.stages {
            writer.message(1) { writer in
                write(
                    call: stage.name, stage.arguments, stage.options, to: &writer)
            }
        }
    }

    private static func write(
        call name: String, _ arguments: [Pipeline.Expression],
        _ options: [Pipeline.Entry], to writer: inout WireWriter
    ) {
        if !name.isEmpty { writer.text(1, name) }
        for argument in arguments { writer.message(2) { write(argument, to: &$0) } }
        write(options, as: 3, to: &writer)
    }

    static func write(
        _ entries: [Pipeline.Entry], as field: UInt64, to writer: inout WireWriter
    ) {
        for entry in entries {
            writer.message(field) { writer in
                writer.text(1, entry.key)
                writer.message(2) { write(entry.value, to: &$0) }
            }
        }
    }

    private static func write(_ expression: Pipeline.Expression, to writer: inout WireWriter) {
        switch expression {
        case .constant(let value): writer.append(FieldsCodec.encode(value))
        case .reference(let name): writer.text(5, name)
        case .field(let path): writer.text(Kind.field, path)
        case .variable(let name): writer.text(Kind.variable, name)
        case .function(let name, let arguments, let options):
            writer.message(Kind.function) { writer in
                write(call: name, arguments, options, to: &writer)
            }
        case .pipeline(let pipeline):
            writer.message(Kind.pipeline) { write(pipeline, to: &$0) }
        case .array(let elements):
            writer.message(9) { writer in
                for element in elements { writer.message(1) { write(element, to: &$0) } }
            }
        case .map(let entries): writer.message(6) { write(entries, as: 1, to: &$0) }
        }
    }
}
