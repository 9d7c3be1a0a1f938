import Foundation
import SwiftProtobuf
import Testing
import TidemarkModel

@testable import TidemarkWire

/// Compares the codec of pipelines with SwiftProtobuf's own messages.
struct PipelineCodecTests {
    @Test(arguments: UInt64(0)..<300)
    func `protobuf reads what the codec wrote, and the other way round`(seed: UInt64) throws {
        var generator = Generator(seed: seed)
        let pipeline = generator.pipeline()
        let read = try PBPipeline(serializedBytes: PipelineCodec.encode(pipeline))
        #expect(try read.canonical == pipeline.proto.canonical, "seed \(seed)")
        let written: [UInt8] = try pipeline.proto.serializedBytes()
        // Protobuf writes maps in any order.
        #expect(try PipelineCodec.decode(written).sorted == pipeline.sorted, "seed \(seed)")
    }

    private static func nested(_ depth: Int) -> Pipeline {
        var expression = Pipeline.Expression.field("a")
        for _ in 0..<depth {
            expression = .function(name: "not", arguments: [expression], options: [])
        }
        return Pipeline(stages: [Pipeline.Stage(name: "where", arguments: [expression])])
    }

    private func refusal(_ pipeline: Pipeline) -> RPCStatus? {
        var wire = PipelineEnvelope()
        wire.database = database.name
        wire.pipeline = pipeline
        return Self.refusal(of: wire.bytes)
    }

    private static func refusal(of request: [UInt8]) -> RPCStatus? {
        do throws(RPCStatus) { _ = try DecodedRequest(.executePipeline, request) } catch {
            return error
        }
        return nil
    }

    /// Returns a request whose function calls are nested. A value of that depth would overflow the
    /// stack of a test when it is encoded or released.
    private static func nestedBytes(_ depth: Int) -> [UInt8] {
        func wrapped(_ field: UInt64, _ bytes: [UInt8], named name: String? = nil) -> [UInt8] {
            var writer = WireWriter()
            if let name { writer.text(1, name) }
            writer.data(field, bytes)
            return writer.bytes
        }
        var value: [UInt8] = wrapped(17, Array("a".utf8))
        for _ in 0..<depth { value = wrapped(20, wrapped(2, value, named: "not")) }
        let stage = wrapped(2, value, named: "where")
        return wrapped(2, wrapped(1, wrapped(1, stage)), named: database.name)
    }

    @Test func `expressions are nested to a bound`() throws {
        #expect(refusal(Self.nested(PipelineCodec.maxDepth)) == nil)
        let refused = try #require(refusal(Self.nested(PipelineCodec.maxDepth + 1)))
        #expect(refused.code == .invalidArgument)
        #expect(refused.message == "The pipeline is nested more than 200 levels deep.")
        #expect(Self.refusal(of: Self.nestedBytes(5_000))?.message == refused.message)
    }

    @Test func `a request of many tiny parts is refused before it is decoded`() {
        let values = Array(repeating: Pipeline.Expression.constant(.null), count: 1_000_000)
        let stage = Pipeline.Stage(name: "select", arguments: [.array(values)])
        #expect(
            refusal(Pipeline(stages: [stage]))
                == .invalidArgument("The request has too many parts for its length."))
        let fewer = Pipeline.Stage(
            name: "select", arguments: [.array(Array(values.prefix(10_000)))])
        #expect(refusal(Pipeline(stages: [fewer])) == nil)
    }

    @Test func `a value without a kind is refused`() {
        let stage = PBPipeline.Stage.with { $0.args = [PBValue()] }
        let pipeline = PBPipeline.with { $0.stages = [stage] }
        #expect(throws: CodecError.noKind) {
            try PipelineCodec.decode(try pipeline.serializedBytes())
        }
    }

    @Test func `of two entries with the same key the last one counts`() throws {
        var writer = WireWriter()
        writer.message(1) { stage in
            for value in [Int64(1), 2] {
                stage.message(3) { entry in
                    entry.text(1, "k")
                    entry.message(2) {
                        $0.tag(2, 0)
                        $0.varint(UInt64(value))
                    }
                }
            }
        }
        let options = try PipelineCodec.decode(writer.bytes).stages[0].options
        #expect(options == [Pipeline.Entry(key: "k", value: .constant(.integer(2)))])
    }

    @Test func `a row without a document has no name on the wire`() throws {
        let row = ExecutePipelineReply.Row(contents: EncodedFields(["a": .integer(1)]))
        let reply = Reply.executePipeline(ExecutePipelineReply(rows: [row]))
        let response = try PipelineResponse(ReplyCoder(Names(database)).encode(reply))
        let document = try PBDocument(
            serializedBytes: DocumentCodec.encode(try #require(response.results.first)))
        #expect(document.name.isEmpty && !document.hasUpdateTime)
        #expect(document.fields["a"]?.integerValue == 1)
    }
}

extension Pipeline {
    fileprivate var proto: PBPipeline {
        PBPipeline.with { wire in
            wire.stages = stages.map { stage in
                PBPipeline.Stage.with {
                    $0.name = stage.name
                    $0.args = stage.arguments.map(\.proto)
                    $0.options = stage.options.proto
                }
            }
        }
    }

    /// The pipeline with the entries of its maps in the order of their keys.
    fileprivate var sorted: Pipeline {
        Pipeline(
            stages: stages.map { stage in
                Stage(
                    name: stage.name, arguments: stage.arguments.map(\.sorted),
                    options: stage.options.inOrder)
            })
    }
}

extension [Pipeline.Entry] {
    fileprivate var proto: [String: PBValue] {
        reduce(into: [:]) { $0[$1.key] = $1.value.proto }
    }

    fileprivate var inOrder: Self {
        sorted { $0.key.precedesInBytes($1.key) }
            .map { Pipeline.Entry(key: $0.key, value: $0.value.sorted) }
    }
}

extension Pipeline.Expression {
    fileprivate var proto: PBValue {
        PBValue.with { wire in
            switch self {
            case .constant(let value): wire = value.proto
            case .reference(let name): wire.referenceValue = name
            case .field(let path): wire.fieldReferenceValue = path
            case .variable(let name): wire.variableReferenceValue = name
            case .function(let name, let arguments, let options):
                wire.functionValue = .with {
                    $0.name = name
                    $0.args = arguments.map(\.proto)
                    $0.options = options.proto
                }
            case .pipeline(let pipeline): wire.pipelineValue = pipeline.proto
            case .array(let elements):
                wire.arrayValue = .with { $0.values = elements.map(\.proto) }
            case .map(let entries): wire.mapValue = .with { $0.fields = entries.proto }
            }
        }
    }

    fileprivate var sorted: Self {
        switch self {
        case .constant, .reference, .field, .variable: self
        case .function(let name, let arguments, let options):
            .function(
                name: name, arguments: arguments.map(\.sorted), options: options.inOrder)
        case .pipeline(let pipeline): .pipeline(pipeline.sorted)
        case .array(let elements): .array(elements.map(\.sorted))
        case .map(let entries): .map(entries.inOrder)
        }
    }
}
