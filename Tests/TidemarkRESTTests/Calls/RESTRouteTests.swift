import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import TidemarkREST

struct RESTRouteTests {
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
        ("POST", "/a/b:runQuery", .runQuery), ("POST", ":executePipeline", .executePipeline),
        ("POST", "/a/b:listCollectionIds", .listCollectionIDs),
        ("POST", ":partitionQuery", .partitionQuery), ("POST", "/a:b", .createDocument),
        ("POST", "/a/b:runAggregationQuery", .runAggregationQuery), ("GET", "/a/b:c", .getDocument),
    ])
    func `finds the RPC`(verb: String, path: String, expected: RPCMethod) {
        #expect(method(verb, Self.root + path) == expected)
        let beta = Self.root.replacing("/v1/", with: "/v1beta1/")
        #expect(method(verb, beta + path) == expected, "the beta's paths are answered alike")
        #expect(RESTRoute.isCall(beta + path) && RESTRoute.isCall(Self.root + path))
        #expect(method(verb, Self.root.replacing("/v1/", with: "/v2/") + path) == nil)
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

    /// Returns the meaning of a read's message that contains only a name.
    private func meaning(ofName name: String) throws -> (DatabaseID, Request) {
        var message = WireWriter()
        message.text(1, name)
        return try CallCoding.request(.getDocument, message.bytes)
    }

    @Test(arguments: [
        "/a/b", "/a/b/c/d", "/a/b%20c", "/a/%2Fb%2fc", "/%C3%A9/e%CC%81", "/a/__id7__", "/a/%00",
        "/a/b+c", "/a/b:c", "/a/%25",
    ])
    func `a read by its URL is what its message means`(path: String) throws {
        for root in [Self.root, Self.root.replacing("(default)", with: "%28default%29")] {
            for query in [nil, "key=k", "alt=json&prettyPrint=false", "mask.fieldPaths=x"] {
                let call = try RESTCall(RESTRequest(path: root + path, query: query))
                let segments = try #require(URLText.segments(of: Self.root + path))
                let (database, plain) = try meaning(
                    ofName: segments.dropFirst().joined(separator: "/"))
                var request = plain
                if query?.hasPrefix("mask") == true, case .getDocument(var get) = request {
                    get.mask = [try FieldPath(encoded: "x")]
                    request = .getDocument(get)
                }
                #expect(call.database == database && call.request == request)
            }
        }
    }

    @Test(arguments: [
        "/a/__x__", "/a/.", "/../b", "/a/" + String(repeating: "x", count: 1_501),
    ])
    func `a read of what cannot be is refused as its message is`(path: String) throws {
        let name = String((Self.root + path).dropFirst("/v1/".count))
        let expected = #expect(throws: RPCStatus.self) { _ = try meaning(ofName: name) }
        let refusal = #expect(throws: RESTRefusal.self) {
            _ = try RESTCall(RESTRequest(path: Self.root + path))
        }
        #expect(refusal?.status == expected)
    }

    @Test(
        arguments: [
            ("%41%4a%4A", "AJJ"), ("%e2%82%ac", "€"), ("%", nil), ("%4", nil), ("%4g", nil),
            ("%+1", nil), ("%ED%A0%80", nil), ("%C0%80", nil), ("a%F0%9F%98%80b", "a😀b"),
        ] as [(String, String?)])
    func `escapes are UTF-8`(text: String, plain: String?) {
        #expect(URLText.segments(of: "/" + text) == plain.map { [$0] })
        #expect(text.removingPercentEncoding == plain)
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
