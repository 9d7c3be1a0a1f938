import TidemarkModel

extension Generator {
    mutating func pipeline(depth: Int = 3) -> Pipeline {
        Pipeline(
            stages: list(upTo: 3) { generator in
                Pipeline.Stage(
                    name: generator.word(),
                    arguments: generator.list(upTo: 3) { $0.expression(depth: depth) },
                    options: generator.entries(depth: 1))
            })
    }

    mutating func expression(depth: Int) -> Pipeline.Expression {
        switch number(0...(depth > 0 ? 7 : 3)) {
        case 0: .constant(constant())
        case 1:
            .reference(pick(["", "/books", "/books/b1", "projects/p/databases/d/documents/a/b"]))
        case 2: .field(text())
        case 3: .variable(text())
        case 4: .array(list(upTo: 3) { $0.expression(depth: depth - 1) })
        case 5: .map(entries(depth: depth - 1))
        case 6: .pipeline(pipeline(depth: depth - 1))
        default:
            .function(
                name: word(), arguments: list(upTo: 3) { $0.expression(depth: depth - 1) },
                options: entries(depth: 0))
        }
    }

    /// Returns a value of a kind without parts, and no reference.
    private mutating func constant() -> Value {
        while true {
            let value = value(depth: 0)
            if case .reference = value { continue }
            return value
        }
    }

    mutating func entries(depth: Int) -> [Pipeline.Entry] {
        var keys: Set<String> = []
        return list(upTo: 3) { generator in
            Pipeline.Entry(
                key: generator.text(), value: generator.expression(depth: depth))
        }.filter { keys.insert($0.key).inserted }
    }

    mutating func executePipeline() -> ExecutePipelineRequest {
        ExecutePipelineRequest(
            pipeline: maybe { $0.pipeline() },
            consistency: consistency(), commitsTransaction: chance(2))
    }

    mutating func pipelineRow() -> ExecutePipelineReply.Row {
        ExecutePipelineReply.Row(
            path: maybe { $0.path() }, contents: EncodedFields(fields()),
            createTime: maybe { $0.time() }, updateTime: maybe { $0.time() })
    }

    mutating func executePipelineReply() -> ExecutePipelineReply {
        ExecutePipelineReply(
            transaction: maybe { $0.token() }, rows: list(upTo: 3) { $0.pipelineRow() },
            executionTime: maybe { $0.time() }, explanation: maybe { $0.text() })
    }
}
