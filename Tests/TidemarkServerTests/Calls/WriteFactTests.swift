import Testing
import TidemarkModel

/// The recorded results of unusual writes in production. Source: server-production-facts 1.
struct WriteFactTests {
    let server: TestServer

    init() throws { server = try TestServer() }

    private static let n = FieldPath(unchecked: ["n"])

    private static func transforming(_ operation: FieldTransform.Operation) -> Mutation {
        Mutation(
            path: path("c/a"), .patch([:], mask: []), transforms: [FieldTransform(n, operation)])
    }

    private static func time(_ nanoseconds: Int32) -> Value {
        .timestamp(Timestamp(seconds: 5, nanoseconds: nanoseconds))
    }

    private static let idle: [(MapValue, Mutation)] = [
        (["n": .double(.nan)], set("c/a", ["n": .double(.nan)])),
        (["n": .double(.nan)], transforming(.maximum(.integer(1)))),
        (["n": time(1_000)], set("c/a", ["n": time(1_999)])),
        (["n": .array([time(1_000)])], transforming(.arrayUnion([time(1_500)]))),
        (["n": .integer(3)], transforming(.maximum(.double(3)))),
        (["n": .integer(3)], Mutation(path: path("c/a"), .verify, precondition: .exists(true))),
    ]

    @Test(arguments: idle)
    func `a write that changes nothing makes no version and tells no listen`(
        fields: MapValue, again: Mutation
    ) throws {
        let first = try server.commit(set("c/a", fields)).commitTime
        let listen = server.listen()
        _ = listen.add(target(1, collection("c")))
        let second = try server.commit(again)
        #expect(second.commitTime > first)
        #expect(try server.get("c/a").updateTime == first)
        #expect(listen.take().isEmpty)
    }

    @Test func `two times of one microsecond are one element`() throws {
        try server.commit(set("c/a", [:]))
        try server.commit(Self.transforming(.arrayUnion([Self.time(1_001), Self.time(1_999)])))
        #expect(try server.get("c/a").fields == ["n": .array([Self.time(1_000)])])
        try server.commit(Self.transforming(.arrayRemove([Self.time(1_500)])))
        #expect(try server.get("c/a").fields == ["n": .array([])])
    }

    @Test(arguments: ["__name__", "__reserved__"])
    func `reserved names are refused at every depth`(name: String) throws {
        let bad: Value = .map([name: .integer(1)])
        for fields: MapValue in [["m": bad], ["l": .array([.map(["m": bad])])]] {
            #expect(
                refusal { try server.commit(set("c/a", fields)) }
                    == .invalidArgument("The property.name \"\(name)\" is reserved."))
        }
    }

    @Test func `501 transforms of one document are refused, 500 are not`() throws {
        func mutation(_ count: Int) -> Mutation {
            var mutation = Self.transforming(.increment(.integer(1)))
            mutation.transforms = Array(repeating: mutation.transforms[0], count: count)
            return mutation
        }
        #expect(refusal { try server.commit(mutation(501)) }?.code == .invalidArgument)
        try server.commit(mutation(500))
        #expect(try server.get("c/a").fields == ["n": .integer(500)])
    }

    @Test func `vectors have 1 to 2048 numbers, infinite ones too, but no NaN`() throws {
        func refused(_ numbers: [Double]) -> RPCStatus.Code? {
            refusal {
                try server.commit(set("c/a", ["v": .vector(VectorValue(numbers))]))
            }?.code
        }
        #expect(refused([]) == .invalidArgument)
        #expect(refused(Array(repeating: 1, count: 2_049)) == .invalidArgument)
        #expect(refused([1, .nan]) == .invalidArgument)
        #expect(refused(Array(repeating: 1, count: 2_048)) == nil)
        #expect(refused([.infinity, -.infinity]) == nil)
    }

    @Test func `a batch does the writes around one that is refused`() throws {
        let long = Value.string(String(repeating: "x", count: 1_048_488))
        let batch = BatchWriteRequest(mutations: [
            set("c/a", [:]), set("c/b", ["v": long]), set("c/d", [:]),
        ])
        guard case .batchWrite(let results)? = try server.replies(.batchWrite(batch)).first else {
            Issue.record("no reply")
            return
        }
        #expect(results.map(\.status.code) == [.ok, .invalidArgument, .ok])
        #expect(
            results[1].status.message
                == "The value of property \"v\" is longer than 1048487 bytes.")
        #expect(try server.ids(collection("c")) == ["a", "d"])
        let commit = CommitRequest(mutations: [set("e/a", [:]), set("e/b", ["v": long])])
        #expect(refusal { _ = try server.replies(.commit(commit)) }?.code == .invalidArgument)
        #expect(try server.ids(collection("e")).isEmpty)
    }
}
