import Foundation
import Testing
import TidemarkModel

@testable import TidemarkObjects

/// Paths, ranges and metadata of requests.
struct RequestTests {
    @Test(
        arguments: [
            ("/", .server), ("/v0/", .server),
            ("/v0/b/k/o", .firebase(bucket: "k", name: nil)),
            ("/v0/b/k/o/", .firebase(bucket: "k", name: nil)),
            ("/v0/b/k/o/a%2Fb%2F%2Fc", .firebase(bucket: "k", name: "a/b//c")),
            ("/v0/b/k/o/a%252Fb", .firebase(bucket: "k", name: "a%2Fb")),
            ("/v0/b/k/o/a+b%20%C3%A9", .firebase(bucket: "k", name: "a+b é")),
            ("/storage/v1/b", .buckets), ("/b/k", .bucket("k")),
            ("/storage/v1/b/k/o", .objects(bucket: "k")),
            ("/b/k/o/a%2Fb", .object(bucket: "k", name: "a/b")),
            ("/download/storage/v1/b/k/o/a", .object(bucket: "k", name: "a")),
            ("/upload/storage/v1/b/k/o", .upload(bucket: "k")), ("/batch/storage/v1", .batch),
            ("/k/a/b", .plain(bucket: "k", name: "a/b")),
        ] as [(String, ObjectsTarget)])
    func `of known paths are found`(path: String, target: ObjectsTarget) {
        #expect(ObjectsTarget(path: path) == target)
    }

    @Test func `of copies and compositions are found`() {
        let path = "/storage/v1/b/k/o/a%2Fb/rewriteTo/b/l/o/c%2Fd"
        #expect(
            ObjectsTarget(path: path)
                == .copy(
                    from: .init(bucket: "k", name: "a/b"), to: .init(bucket: "l", name: "c/d"),
                    isRewrite: true))
        #expect(
            ObjectsTarget(path: "/b/k/o/a/compose") == .compose(.init(bucket: "k", name: "a")))
    }

    @Test(arguments: ["", "x", "/v0/b", "/v0/x/y/z", "/a%ff/b", "/upload/storage/v1/x"])
    func `of other paths are not`(path: String) {
        #expect(ObjectsTarget(path: path) == nil)
    }

    @Test func `with a plus sign in the query mean a space`() throws {
        let query = ObjectsQuery("name=a+b%2Bc&ifMetaGenerationNotMatch=3&x")
        #expect(query["name"] == "a b+c")
        #expect(query["x"] == "")
        #expect(try query.conditions().ifMetagenerationNotMatch == 3)
        #expect(throws: ObjectRefusal.self) {
            try ObjectsQuery("ifGenerationMatch=x").conditions()
        }
    }

    @Test(
        arguments: [
            ("bytes 0-0/1", .bytes(first: 0, count: 1, total: 1)),
            ("bytes 262144-524287/*", .bytes(first: 262_144, count: 262_144, total: nil)),
            ("bytes */*", ContentRange.none(total: nil)),
            ("bytes */0", ContentRange.none(total: 0)),
        ] as [(String, ContentRange)])
    func `with a range of content are read`(text: String, range: ContentRange) {
        #expect(ContentRange(text) == range)
    }

    @Test(arguments: [
        "", "bytes 1-0/2", "bytes -1-2/3", "bytes 0-9223372036854775807/*", "items 0-1/2",
        "bytes 0-1", "bytes a-b/c",
    ])
    func `with a damaged range of content are not`(text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test(
        arguments: [
            (nil, 10, .whole), ("bytes=0-4", 10, .part(first: 0, count: 5)),
            ("bytes=0-99", 10, .part(first: 0, count: 10)),
            ("bytes=4-", 10, .part(first: 4, count: 6)),
            ("bytes=-3", 10, .part(first: 7, count: 3)),
            ("bytes=-99", 10, .part(first: 0, count: 10)),
            ("bytes=10-", 10, .unsatisfiable), ("bytes=0-5", 0, .unsatisfiable),
            ("bytes=-0", 10, .unsatisfiable), ("bytes=5-4", 10, .whole),
            ("bytes=0-1,3-4", 10, .whole),
            ("lines=0-1", 10, .whole),
        ] as [(String?, Int64, DownloadRange)])
    func `for a range of bytes get it`(text: String?, size: Int64, range: DownloadRange) {
        #expect(DownloadRange(text, size: size) == range)
    }

    @Test func `with null in the metadata ignore it in an upload, and remove it in a change`()
        throws
    {
        let form = try ObjectForm(
            Array(
                #"{"contentType":null,"cacheControl":"no-store","metadata":{"a":null,"b":1}}"#.utf8)
        )
        let (fields, tokens) = try form.fields()
        #expect(fields.contentType == nil)
        #expect(fields.custom == ["b": "1"])
        #expect(tokens == [])
        let patch = try form.patch()
        #expect(patch.contentType == .remove)
        #expect(patch.cacheControl == .set("no-store"))
        #expect(patch.contentLanguage == .keep)
        #expect(patch.custom == [ByteString("a"): nil, ByteString("b"): "1"])
    }

    @Test func `with the reserved key set the download tokens`() throws {
        let text = #"{"metadata":{"firebaseStorageDownloadTokens":"x,y","k":"v"}}"#
        let (fields, tokens) = try ObjectForm(Array(text.utf8)).fields()
        #expect(tokens == ["x", "y"])
        #expect(fields.custom == ["k": "v"])
    }

    @Test(arguments: ["[]", "{", "{\"contentType\":1}", "{\"metadata\":[]}"])
    func `with damaged metadata are refused`(text: String) {
        #expect(throws: ObjectRefusal.self) { _ = try ObjectForm(Array(text.utf8)).fields() }
    }

    @Test(arguments: ["", "a\nb", "..", String(repeating: "é", count: 513)])
    func `for invalid names are refused`(name: String) {
        #expect(throws: ObjectRefusal.self) { _ = try ObjectPath(bucket: "k", name: name) }
    }

    @Test func `keep two spellings of a letter in the metadata's names apart`() throws {
        let text = #"{"metadata":{"\u00e9":"one","e\u0301":"two"}}"#
        let (fields, _) = try ObjectForm(Array(text.utf8)).fields()
        #expect(fields.custom["\u{E9}"] == "one" && fields.custom["e\u{301}"] == "two")
        let stored = try JSONEncoder().encode(fields)
        #expect(try JSONDecoder().decode(ObjectFields.self, from: stored) == fields)
        var changed = fields
        try ObjectForm(Array(#"{"metadata":{"e\u0301":"three"}}"#.utf8)).patch().apply(to: &changed)
        #expect(changed.custom.inOrder.map(\.text) == ["three", "one"])
        // The form of stored objects from before.
        let old = #"{"custom":{"k":"v"}}"#
        let read = try JSONDecoder().decode(ObjectFields.self, from: Data(old.utf8))
        #expect(read.custom == ["k": "v"])
        #expect(String(decoding: try JSONEncoder().encode(read), as: UTF8.self) == old)
    }

    @Test func `keep two spellings of a letter apart`() throws {
        let one = try ObjectPath(bucket: "k", name: "\u{E9}")
        let other = try ObjectPath(bucket: "k", name: "e\u{301}")
        #expect(one != other)
        #expect(Set([one, other]).count == 2)
    }
}
