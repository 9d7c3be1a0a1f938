import Foundation
import Testing
import TidemarkModel

@testable import TidemarkREST

/// Documents are written to lines of JSON and read from them.
struct DocumentLineTests {
    private let database = try! DatabaseID(project: "shop")

    private func line(_ text: String) throws -> Mutation {
        let object = try #require(try JSONValue(Array(text.utf8)).object)
        return try DocumentLine.mutation(object, of: database)
    }

    @Test func `a line is read as it was written`() throws {
        let fields: MapValue = [
            "minus": .double(-0.0), "nan": .double(.nan), "least": .integer(.min),
            "bytes": .bytes([0xFB, 0xFF]), "list": .array([.map(["b": .null]), .array([])]),
            "time": .timestamp(Timestamp(seconds: 1, nanoseconds: 2_000)),
            "a.b": .string("line\nbreak \u{0} \u{2028}"),
        ]
        let document = Document(
            path: try DocumentPath("rooms/blue"), fields: fields, createTime: .epoch,
            updateTime: .epoch)
        let data = DocumentLine.data(document)
        #expect(!data.contains(UInt8(ascii: "\n")))
        #expect(data == DocumentLine.data(document))
        let mutation = try line(String(decoding: data, as: UTF8.self))
        #expect(mutation == Mutation(path: document.path, .set(fields)))
        guard case .set(let read) = mutation.operation, case .double(let minus)? = read["minus"]
        else { return #expect(Bool(false), "it is no set") }
        #expect(minus.sign == .minus)
    }

    @Test(arguments: [
        (#"{"fields":{}}"#, #""path" is missing."#),
        (#"{"path":"a","fields":{}}"#, "a"),
        (#"{"path":"a/b","feilds":{}}"#, #""feilds" is neither path nor fields."#),
        (#"{"path":"a/b","fields":{"n":{"integerValue":"x"}}}"#, "integer_value"),
        (#"{"path":"a/b","fields":{"n":1}}"#, "fields"),
    ])
    func `what is no document is told`(text: String, part: String) {
        #expect {
            _ = try line(text)
        } throws: { error in
            (error as? RPCStatus)?.message.contains(part) == true
        }
    }
}
