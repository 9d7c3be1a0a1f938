import Testing
import TidemarkModel

@testable import TidemarkREST

/// Names of fields can differ only in the composition of an accent. Firestore compares their bytes.
struct FieldNameTests {
    private static let (one, two) = ("\u{E9}", "e\u{301}")
    private static let json =
        #"{"fields":{"\#(one)":{"integerValue":"1"},"\#(two)":{"integerValue":"2"}}}"#
    private static let fields = MapValue([(one, .integer(1)), (two, .integer(2))])

    private func call(_ method: String, _ path: String, _ body: String) throws -> Request {
        try RESTCall(
            RESTRequest(
                method: method, path: "/v1/projects/p/databases/(default)/documents" + path,
                body: Array(body.utf8))
        ).request
    }

    @Test func `a body keeps both, each with its value`() throws {
        guard case .updateDocument(let patch) = try call("PATCH", "/rooms/a", Self.json),
            case .createDocument(let create) = try call("POST", "/rooms", Self.json),
            case .commit(let commit) = try call(
                "POST", ":commit",
                #"""
                {"writes":[{"update":{"name":"projects/p/databases/(default)/documents/a/b","fields":
                {"m":{"mapValue":\#(Self.json)}}}}]}
                """#)
        else {
            Issue.record("the requests are of other kinds")
            return
        }
        #expect(patch.fields == Self.fields)
        #expect(create.fields == Self.fields)
        guard case .set(let written)? = commit.mutations.first?.operation else {
            Issue.record("the write is no set")
            return
        }
        #expect(written["m"] == .map(Self.fields))
    }

    @Test func `a line of an export keeps both`() throws {
        let document = Document(
            path: try DocumentPath("rooms/a"), fields: Self.fields, createTime: .epoch,
            updateTime: .epoch)
        let line = DocumentLine.data(document)
        let object = try #require(try JSONValue(Array(line)).object)
        let mutation = try DocumentLine.mutation(object, of: try DatabaseID(project: "p"))
        #expect(mutation == Mutation(path: document.path, .set(Self.fields)))
    }

    @Test func `a name that is there twice is refused, as by Google's transcoder`() {
        #expect {
            _ = try call(
                "PATCH", "/rooms/a",
                #"{"fields":{"a":{"nullValue":null},"a":{"nullValue":null}}}"#)
        } throws: { error in
            (error as? RESTRefusal)?.status.message
                == "Invalid JSON payload received. Unknown name \"a\" at 'document.fields': "
                + "Repeated map key: 'a' is already set."
        }
    }
}
