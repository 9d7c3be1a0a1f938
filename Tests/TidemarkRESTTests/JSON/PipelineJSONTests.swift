import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import TidemarkREST

struct PipelineJSONTests {
    private static let path = "/v1/projects/p/databases/d/documents:executePipeline"

    private func request(_ body: String) throws(RESTRefusal) -> Request {
        try RESTCall(
            RESTRequest(method: "POST", path: Self.path, body: Array(body.utf8))
        ).request
    }

    @Test func `a pipeline in JSON has every kind of value`() throws {
        let body = """
            {"structuredPipeline": {
              "pipeline": {"stages": [
                {"name": "collection", "args": [{"referenceValue": "/books"}],
                 "options": {"force_index": {"stringValue": "primary"}}},
                {"name": "where", "args": [{"functionValue": {"name": "equal", "args": [
                  {"fieldReferenceValue": "a.b"}, {"variableReferenceValue": "v"}]}}]},
                {"name": "union", "args": [{"pipelineValue": {"stages": [{"name": "database"}]}}]},
                {"name": "x", "args": [{"arrayValue": {"values": [{"nullValue": null}]}},
                  {"mapValue": {"fields": {"k": {"integerValue": "7"}}}}]}]},
              "options": {"index_mode": {"stringValue": "recommended"}}},
             "newTransaction": {"readWrite": {}}, "autoCommitTransaction": true}
            """
        let condition = Pipeline.Expression.function(
            name: "equal", arguments: [.field("a.b"), .variable("v")], options: [])
        let expected = ExecutePipelineRequest(
            pipeline: Pipeline(stages: [
                Pipeline.Stage(
                    name: "collection", arguments: [.reference("/books")],
                    options: [.init(key: "force_index", value: .constant(.string("primary")))]),
                Pipeline.Stage(name: "where", arguments: [condition]),
                Pipeline.Stage(
                    name: "union",
                    arguments: [.pipeline(Pipeline(stages: [Pipeline.Stage(name: "database")]))]),
                Pipeline.Stage(
                    name: "x",
                    arguments: [
                        .array([.constant(.null)]),
                        .map([.init(key: "k", value: .constant(.integer(7)))]),
                    ]),
            ]),
            options: [.init(key: "index_mode", value: .constant(.string("recommended")))],
            consistency: .newTransaction(.readWrite(retrying: nil)), commitsTransaction: true)
        #expect(try request(body) == .executePipeline(expected))
    }

    @Test func `a hundred functions inside each other are read`() throws {
        func nested(_ depth: Int) -> String {
            let head = #"{"functionValue": {"name": "not", "args": ["#
            return String(repeating: head, count: depth) + #"{"fieldReferenceValue": "a"}"#
                + String(repeating: "]}}", count: depth)
        }
        func body(_ depth: Int) -> String {
            """
            {"structuredPipeline": {"pipeline": {"stages": [{"name": "where", "args": \
            [\(nested(depth))]}]}}}
            """
        }
        guard case .executePipeline(let read) = try request(body(100)) else {
            return #expect(Bool(false), "it is another call")
        }
        #expect(read.pipeline?.stages.count == 1)
        #expect(throws: RESTRefusal.self) { try request(body(130)) }
    }

    @Test func `a value of a pipeline is refused in a document`() throws {
        let body = #"{"fields": {"a": {"fieldReferenceValue": "b"}}}"#
        let write = RESTRequest(
            method: "PATCH", path: "/v1/projects/p/databases/d/documents/c/x",
            body: Array(body.utf8))
        do throws(RESTRefusal) {
            _ = try RESTCall(write)
            #expect(Bool(false), "it was accepted")
        } catch {
            #expect(error.status.code == .invalidArgument)
        }
    }

    @Test func `a row has fields, also if it has none`() throws {
        let database = try DatabaseID(project: "p", database: "d")
        let time = Timestamp(seconds: 1, nanoseconds: 0)
        let reply = ExecutePipelineReply(
            transaction: [1, 2],
            rows: [
                ExecutePipelineReply.Row(
                    path: try DocumentPath("c/a"), contents: EncodedFields(["n": .integer(1)]),
                    createTime: time, updateTime: time),
                ExecutePipelineReply.Row(contents: .empty),
            ], executionTime: time, explanation: "Plan:")
        let text = String(
            decoding: JSONOutput.part(of: reply, in: database).data(), as: UTF8.self)
        let stamp = "1970-01-01T00:00:01.000000000Z"
        #expect(
            text.contains(
                #""results":[{"name":"projects/p/databases/d/documents/c/a","#
                    + #""fields":{"n":{"integerValue":"1"}}"#), "\(text)")
        #expect(text.contains(#"{"fields":{}}"#), "\(text)")
        #expect(text.contains(#""transaction":"AQI=""#), "\(text)")
        #expect(
            text.contains(
                #""data":{"@type":"type.googleapis.com/google.protobuf.StringValue","#
                    + #""value":"Plan:"}"#), "\(text)")
        #expect(text.contains("\"executionTime\":\"\(stamp.prefix(19))"), "\(text)")
    }
}
