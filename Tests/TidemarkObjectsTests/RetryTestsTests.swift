import Testing
import TidemarkModel

@testable import TidemarkObjects

/// The faults by the vocabulary of Google's test server.
struct RetryTestsTests {
    @Test(
        arguments: [
            ("return-503", .status(503)), ("return-408", .status(408)),
            ("return-503-after-256K", .statusAfter(503, bytes: 262_144)),
            ("return-broken-stream", .brokenAnswer),
            ("return-broken-stream-after-12K", .brokenAfter(bytes: 12_288)),
            ("return-broken-stream-final-chunk-after-10B", .brokenFinal(bytes: 10)),
            ("return-reset-connection", .reset),
            ("stall-for-10s-after-12K", .stall(seconds: 10, bytes: 12_288)),
        ] as [(String, RetryInstruction)])
    func `a name is read and written`(name: String, instruction: RetryInstruction) throws {
        #expect(try RetryInstruction(name) == instruction)
        #expect(instruction.name == name)
    }

    @Test(
        arguments: [
            ("/storage/v1/b", "GET", .listBuckets), ("/storage/v1/b", "POST", .insertBucket),
            ("/storage/v1/b/k", "GET", .getBucket), ("/storage/v1/b/k", "DELETE", .deleteBucket),
            ("/storage/v1/b/k/o", "GET", .list), ("/v0/b/k/o", "GET", .list),
            ("/storage/v1/b/k/o/n", "HEAD", .get), ("/v0/b/k/o/n", "GET", .get),
            ("/download/storage/v1/b/k/o/n", "GET", .get), ("/k/n", "GET", .get),
            ("/upload/storage/v1/b/k/o", "POST", .insert), ("/v0/b/k/o", "POST", .insert),
            ("/v0/b/k/o/n", "PUT", .insert), ("/k/n", "PUT", .insert),
            ("/storage/v1/b/k/o/n", "PATCH", .patch), ("/v0/b/k/o/n", "PATCH", .patch),
            ("/storage/v1/b/k/o/n", "PUT", .update), ("/storage/v1/b/k/o/n", "DELETE", .delete),
            ("/v0/b/k/o/n", "DELETE", .delete),
            ("/storage/v1/b/k/o/n/copyTo/b/l/o/m", "POST", .copy),
            ("/storage/v1/b/k/o/n/rewriteTo/b/l/o/m", "POST", .rewrite),
            ("/storage/v1/b/k/o/n/compose", "POST", .compose),
            ("/batch/storage/v1", "POST", nil), ("/", "GET", nil),
            ("/storage/v1/b/k/o/n/compose", "GET", nil),
        ] as [(String, String, RetryMethod?)])
    func `a request has a method`(path: String, verb: String, method: RetryMethod?) throws {
        let target = try #require(ObjectsTarget(path: path))
        #expect(RetryMethod(target, verb: verb, isUpload: false) == method)
    }

    @Test(arguments: ["/upload/storage/v1/b/k/o", "/v0/b/k/o"], ["PUT", "POST", "DELETE"])
    func `each request with an upload's id is an insert`(path: String, verb: String) throws {
        let target = try #require(ObjectsTarget(path: path))
        #expect(RetryMethod(target, verb: verb, isUpload: true) == .insert)
    }

    private func order(
        _ instructions: [RetryMethod: [RetryInstruction]], isForAll: Bool = false
    ) throws -> RetryOrder {
        try RetryOrder(instructions, isForAll: isForAll)
    }

    @Test func `faults happen once each, in their order`() throws {
        var tests = RetryTests()
        let test = try tests.add(
            try order([.get: [.status(503), .reset], .list: [.brokenAnswer]]), id: "a")
        #expect(!test.isCompleted)
        let first = try #require(tests.next(.get, test: "a"))
        #expect(first.instruction == .status(503))
        // Two requests at a time meet one fault.
        #expect(tests.next(.get, test: "a") == first)
        let taken = [tests.take(first), tests.take(first)]
        #expect(taken == [true, false])
        let second = try #require(tests.next(.get, test: "a"))
        #expect(second.instruction == .reset)
        _ = tests.take(second)
        #expect(tests.next(.get, test: "a") == nil)
        #expect(tests["a"]?.isCompleted == false)
        let third = try #require(tests.next(.list, test: "a"))
        _ = tests.take(third)
        #expect(tests["a"]?.isCompleted == true)
    }

    @Test func `a fault is for the requests that name its test`() throws {
        var tests = RetryTests()
        _ = try tests.add(try order([.get: [.reset]]), id: "a")
        #expect(tests.next(.get, test: nil) == nil)
        #expect(tests.next(.get, test: "b") == nil)
        #expect(tests.next(.insert, test: "a") == nil)
        _ = try tests.add(try order([.get: [.status(500)]], isForAll: true), id: "b")
        #expect(tests.next(.get, test: nil)?.test == "b")
        #expect(tests.next(.get, test: "a")?.instruction == .reset)
        let fault = try #require(tests.next(.get, test: "b"))
        let results = [tests.remove("b"), tests.take(fault), tests.remove("b")]
        #expect(results == [true, false, false])
    }

    @Test func `the number of tests is bounded`() throws {
        var tests = RetryTests()
        for number in 0..<RetryTests.maxTests {
            _ = try tests.add(try order([.get: [.reset]]), id: "\(number)")
        }
        let next = try order([.get: [.reset]])
        var full = tests
        let refused = try? full.add(next, id: "x")
        #expect(refused == nil)
        let fault = try #require(tests.next(.get, test: "7"))
        _ = tests.take(fault)
        _ = try tests.add(next, id: "x")
        #expect(tests.all.count == RetryTests.maxTests)
        #expect(tests["7"] == nil && tests["x"] != nil && tests["0"] != nil)
    }

    @Test func `a test is shown as its order`() throws {
        let body = """
            {"instructions":{"storage.objects.get":["return-503","stall-for-1s-after-1K"],\
            "storage.objects.list":["return-broken-stream"]},"transport":"HTTP",\
            "everyRequest":true}
            """
        var tests = RetryTests()
        let test = try tests.add(try RetryOrder(Array(body.utf8)), id: "a")
        let again = try RetryOrder(JSONWriter.bytes(of: test.json))
        #expect(again.instructions == test.instructions && again.isForAll)
        #expect(test.json.object?["completed"]?.isFalse == true)
    }

    @Test(
        arguments: [
            "", "[]", "{\"instructions\":[]}", "{\"instructions\":{}}",
            "{\"instructions\":{\"storage.objects.get\":[7]}}",
            "{\"instructions\":{\"storage.objects.get\":[\"return-302\"]}}",
            "{\"instructions\":{\"get\":[\"return-503\"]}}",
        ])
    func `other orders are refused with a sentence`(body: String) {
        #expect {
            try RetryOrder(Array(body.utf8))
        } throws: { error in
            let refusal = error as? ObjectRefusal
            return refusal?.status == 400 && refusal?.message.hasSuffix(".") == true
        }
    }
}

extension JSONValue {
    fileprivate var isFalse: Bool { if case .bool(false) = self { true } else { false } }
}
