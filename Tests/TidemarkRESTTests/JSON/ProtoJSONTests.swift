import Foundation
import Testing
import TidemarkModel

@testable import TidemarkREST

struct ProtoJSONTests {
    private func bytes(_ json: String, _ type: MessageType = .value) throws -> [UInt8] {
        var reader = ProtoJSONReader()
        return try reader.message(type, try #require(try JSONValue(Array(json.utf8)).object))
    }

    private func value(_ json: String) throws -> Value {
        try FieldsCodec.decodeValue(try bytes(json))
    }

    private func refusal(_ json: String, _ type: MessageType = .value) -> String {
        do {
            _ = try bytes(json, type)
            return "taken"
        } catch { return (error as? RPCStatus)?.message ?? "\(error)" }
    }

    @Test(arguments: [
        (#"{"integerValue": "-9223372036854775808"}"#, Value.integer(.min)),
        (#"{"integerValue": 9223372036854775807}"#, .integer(.max)),
        (#"{"integerValue": 1e2}"#, .integer(100)),
        (#"{"doubleValue": "NaN"}"#, .double(.nan)),
        (#"{"doubleValue": "-Infinity"}"#, .double(-.infinity)),
        (#"{"doubleValue": "-0"}"#, .double(-0.0)),
        (#"{"doubleValue": -0.0}"#, .double(-0.0)),
        (#"{"doubleValue": 1}"#, .double(1)),
        (#"{"nullValue": null}"#, .null),
        (#"{"nullValue": "NULL_VALUE"}"#, .null),
        (#"{"booleanValue": false}"#, .boolean(false)),
        (#"{"bytesValue": "-_8"}"#, .bytes([0xFB, 0xFF])),
        (#"{"bytesValue": "+/8="}"#, .bytes([0xFB, 0xFF])),
        (#"{"stringValue": ""}"#, .string("")),
        (#"{"arrayValue": {}}"#, .array([])),
        (#"{"map_value": {"fields": {"a": {"integerValue": "1"}}}}"#, .map(["a": .integer(1)])),
        (
            #"{"timestampValue": "2001-02-03T04:05:06.000000007+01:00"}"#,
            .timestamp(Timestamp(seconds: 981_169_506, nanoseconds: 7))
        ),
    ])
    func `reads values in all their forms`(json: String, expected: Value) throws {
        #expect(try value(json) == expected)
    }

    @Test func `writes what it reads`() throws {
        let json = #"""
            {"mapValue":{"fields":{"b":{"bytesValue":"+/8="},"d":{"doubleValue":0.1},"e":{"doubleValue":"-0"},\#
            "i":{"integerValue":"7"},"l":{"arrayValue":{"values":[{"nullValue":null}]}},\#
            "n":{"doubleValue":"NaN"},"t":{"timestampValue":"2001-02-03T04:05:06.000007Z"}}}}
            """#
        let output = ProtoJSONWriter.json(.value, try bytes(json))
        #expect(String(decoding: output.data(isSorted: true), as: UTF8.self) == json)
    }

    @Test(arguments: [
        (
            #"{"x": 1}"#, MessageType.runQueryRequest,
            "Invalid JSON payload received. Unknown name \"x\": Cannot find field."
        ),
        (
            #"{"structuredQuery": {"from": [{}, {"x": 1}]}}"#, .runQueryRequest,
            "Invalid JSON payload received. Unknown name \"x\" at 'structured_query.from[1]': "
                + "Cannot find field."
        ),
        (
            #"{"pageSize": "abc"}"#, .listDocumentsRequest,
            "Invalid value at 'page_size' (TYPE_INT32), \"abc\""
        ),
        (
            #"{"pageSize": 2147483648}"#, .listDocumentsRequest,
            "Invalid value at 'page_size' (TYPE_INT32), 2147483648"
        ),
        (
            #"{"readTime": "2001-01-01T00:00:00Z", "transaction": ""}"#, .getDocumentRequest,
            "Invalid value (oneof), oneof field 'consistency_selector' is already set. "
                + "Cannot set 'transaction'"
        ),
        (
            #"{"writes": {}}"#, .commitRequest,
            "Invalid value at 'writes' (type.googleapis.com/google.firestore.v1.Write), an object"
        ),
        (
            #"{"database": 1}"#, .commitRequest, "Invalid value at 'database' (TYPE_STRING), 1"
        ),
        (
            #"{"database": []}"#, .commitRequest,
            "Invalid JSON payload received. Unknown name \"database\": Proto field is not "
                + "repeating, cannot start list."
        ),
    ])
    func `refuses in production's words`(json: String, type: MessageType, sentence: String) {
        #expect(refusal(json, type) == sentence)
    }

    @Test func `refuses numbers that are none`() {
        for text in ["0x1", "nan", "inf", " 1", "1e999", "", "1_0"] {
            #expect(refusal(#"{"doubleValue": "\#(text)"}"#).hasPrefix("Invalid value"), "\(text)")
        }
    }

    @Test func `does not follow nesting without end`() {
        let open = String(repeating: #"{"arrayValue":{"values":["#, count: 150)
        let close = String(repeating: "]}}", count: 150)
        let deep = refusal(open + #"{"nullValue":null}"# + close)
        #expect(
            deep.contains("Max recursion depth") || deep.contains("JSON") || deep.contains("The"))
        #expect(deep != "taken")
    }
}
