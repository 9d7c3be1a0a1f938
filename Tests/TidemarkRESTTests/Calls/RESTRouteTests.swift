import Testing
import TidemarkModel

@testable import TidemarkREST

@Suite struct RESTRouteTests {
    private static let root = "/v1/projects/p/databases/(default)/documents"

    private func method(_ method: String, _ path: String) -> RPCMethod? {
        URLText.segments(of: path).flatMap { RESTRoute(method, $0)?.rpc }
    }

    @Test(arguments: [
        ("GET", "/a/b", RPCMethod.getDocument), ("GET", "/a", .listDocuments),
        ("GET", "/a/b/c", .listDocuments), ("POST", "/a", .createDocument),
        ("PATCH", "/a/b", .updateDocument), ("DELETE", "/a/b/c/d", .deleteDocument),
        ("POST", ":commit", .commit), ("POST", ":batchGet", .batchGetDocuments),
        ("POST", ":batchWrite", .batchWrite), ("POST", ":rollback", .rollback),
        ("POST", ":beginTransaction", .beginTransaction), ("POST", ":runQuery", .runQuery),
        ("POST", "/a/b:runQuery", .runQuery),
        ("POST", "/a/b:listCollectionIds", .listCollectionIDs),
        ("POST", ":partitionQuery", .partitionQuery), ("POST", "/a:b", .createDocument),
        ("POST", "/a/b:runAggregationQuery", .runAggregationQuery), ("GET", "/a/b:c", .getDocument),
    ])
    func `finds the RPC`(verb: String, path: String, expected: RPCMethod) {
        #expect(method(verb, Self.root + path) == expected)
    }

    @Test(arguments: [
        ("PUT", "/a/b"), ("POST", "/a/b"), ("PATCH", "/a"), ("GET", ""), ("POST", "/a/b:commit"),
        ("GET", "//b"), ("GET", "/a/"), ("POST", ":nothing"),
    ])
    func `finds nothing`(verb: String, path: String) {
        #expect(method(verb, Self.root + path) == nil)
    }

    @Test func `an escaped slash does not part an id`() {
        #expect(URLText.segments(of: "/a%2Fb/c%20d/%E2%82%AC") == ["a%2Fb", "c d", "€"])
        #expect(URLText.segments(of: "/%ff") == nil)
    }

    @Test func `reads a request's URL and body together`() throws {
        let request = RESTRequest(
            method: "PATCH", path: Self.root + "/a/b",
            query: "updateMask.fieldPaths=x&updateMask.fieldPaths=%60y.z%60&key=k"
                + "&currentDocument.exists=f&currentDocument.exists=True",
            body: Array(#"{"name": "ignored", "fields": {"x": {"integerValue": 1}}}"#.utf8))
        let call = try RESTCall(request)
        let database = try DatabaseID(project: "p", database: "(default)")
        #expect(call.database == database)
        #expect(
            call.request
                == .updateDocument(
                    UpdateDocumentRequest(
                        path: try DocumentPath("a/b"), fields: ["x": .integer(1)],
                        updateMask: [
                            try FieldPath(encoded: "x"), try FieldPath(encoded: "`y.z`"),
                        ], precondition: .exists(true))))
    }
}
