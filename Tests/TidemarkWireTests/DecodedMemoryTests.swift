import Testing
import TidemarkModel

@testable import TidemarkWire

struct DecodedMemoryTests {
    private static let name = "projects/p/databases/d/documents/c/i"

    private static func message(_ body: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        body(&writer)
        return writer.bytes
    }

    /// The bytes of a request of `method` with one value.
    private static func request(_ method: RPCMethod, _ value: [UInt8]) -> [UInt8] {
        let document: (inout WireWriter) -> Void = { document in
            document.text(1, name)
            document.message(2) { entry in
                entry.text(1, "a")
                entry.data(2, value)
            }
        }
        let query: (inout WireWriter) -> Void = { query in
            query.message(7) { $0.data(1, value) }
        }
        return message { request in
            switch method {
            case .createDocument: request.message(4, document)
            case .updateDocument: request.message(1, document)
            case .commit, .batchWrite, .write:
                request.text(1, "projects/p/databases/d")
                request.message(method == .write ? 3 : 2) { $0.message(1, document) }
            case .runAggregationQuery: request.message(2) { $0.message(1, query) }
            case .listen: request.message(2) { $0.message(2) { $0.message(2, query) } }
            default: request.message(2, query)
            }
        }
    }

    private static func estimate(_ method: RPCMethod, _ value: Value) -> Int {
        DecodedMemory.estimate(of: method, request(method, FieldsCodec.encode(value)))
    }

    /// The memory of a value, from the layout of its type and the header of an array.
    private static func memory(of value: Value) -> Int {
        let stride = MemoryLayout<Value>.stride
        return switch value {
        case .array(let values): 32 + values.reduce(0) { $0 + stride + memory(of: $1) }
        case .map(let fields):
            32
                + fields.reduce(0) {
                    $0 + MemoryLayout<MapValue.Entry>.stride + memory(of: $1.value)
                }
        case .bytes(let bytes): 32 + bytes.count
        case .string(let text) where text.utf8.count > 15: 32 + text.utf8.count
        case .reference(let reference):
            16 + MemoryLayout<ReferenceValue>.stride + reference.path.text.utf8.count
        default: 0
        }
    }

    private static let element: [Value] = [
        .integer(1), .null, .boolean(true), .double(0.5), .bytes([7]), .string("short"),
        .string(String(repeating: "long", count: 9)), .map(["k": .integer(1)]),
        .map(["": .null, "b": .bytes([1, 2])]), .map(["n": .array([.null, .integer(3)])]),
        .reference(
            ReferenceValue(
                database: try! DatabaseID(project: "p"), path: try! DocumentPath("c/i"))),
        .timestamp(Timestamp(seconds: 9, nanoseconds: 0)),
    ]

    @Test(arguments: element)
    func `the estimate is the memory of what is decoded, or somewhat more`(element: Value) {
        let value = Value.array([Value](repeating: element, count: 1_000))
        for method in [
            RPCMethod.commit, .batchWrite, .write, .createDocument, .updateDocument, .runQuery,
            .partitionQuery, .runAggregationQuery, .listen,
        ] {
            let estimate = Self.estimate(method, value)
            let memory = Self.memory(of: value)
            #expect(estimate >= memory, "\(method)")
            let bytes = FieldsCodec.encode(value).count
            #expect(estimate <= 2 * memory + 2 * bytes + 200, "\(method)")
        }
    }

    @Test func `the values of filters, transforms and vectors count`() {
        let value = FieldsCodec.encode(.array([Value](repeating: .null, count: 1_000)))
        let list = Self.message { list in
            for _ in 0..<1_000 {
                list.message(1) {
                    $0.tag(11, 0); $0.varint(0)
                }
            }
        }
        let requests: [(RPCMethod, [UInt8])] = [
            (
                .runQuery,
                Self.message {
                    $0.message(2) { $0.message(3) { $0.message(2) { $0.data(3, value) } } }
                }
            ),
            (
                .runQuery,
                Self.message {
                    $0.message(2) {
                        $0.message(3) {
                            $0.message(1) { $0.message(2) { $0.message(2) { $0.data(3, value) } } }
                        }
                    }
                }
            ),
            (.runQuery, Self.message { $0.message(2) { $0.message(9) { $0.data(2, value) } } }),
            (.commit, Self.message { $0.message(2) { $0.message(7) { $0.data(6, list) } } }),
            (.commit, Self.message { $0.message(2) { $0.message(7) { $0.data(3, value) } } }),
            (
                .write,
                Self.message {
                    $0.message(3) { $0.message(6) { $0.message(2) { $0.data(7, list) } } }
                }
            ),
        ]
        for (method, bytes) in requests {
            #expect(DecodedMemory.estimate(of: method, bytes) >= 24_000)
        }
    }

    @Test func `what is no message, or is nested without end, counts little`() {
        let odd = [UInt8](repeating: 0xFF, count: 1 << 15)
        for method in RPCMethod.allCases where method != .executePipeline {
            #expect(DecodedMemory.estimate(of: method, odd) <= 2 * odd.count)
        }
        var nested: [UInt8] = []
        for _ in 0..<5_000 {
            nested = Self.message { $0.message(9) { [nested] in $0.data(1, nested) } }
        }
        let bytes = Self.request(.commit, nested)
        #expect(DecodedMemory.estimate(of: .commit, bytes) < 2 * bytes.count + 100_000)
    }

    @Test func `a request that does not fit is refused before it is decoded`() throws {
        let value = FieldsCodec.encode(.array([Value](repeating: .bytes([1]), count: 10_000)))
        let bytes = Self.request(.commit, value)
        let small = BodyBudget(limit: 700_000)
        #expect(throws: RPCStatus.self) {
            try DecodedRequest(.commit, bytes, budget: small)
        }
        #expect(small.heldBytes == 0)
        let large = BodyBudget(limit: 900_000)
        do {
            let request = try DecodedRequest(.commit, bytes, budget: large)
            #expect(large.heldBytes > 700_000)
            withExtendedLifetime(request) {}
        }
        #expect(large.heldBytes == 0)
        #expect(try DecodedRequest(.commit, bytes).memory == nil, "no budget, no share")
    }

    @Test func `a batch of a write stream counts wherever it waits`() throws {
        let budget = BodyBudget(limit: 1 << 20)
        let messages = StreamMessages(.write, budget: budget)
        let text = FieldsCodec.encode(.string(String(repeating: "x", count: 100_000)))
        let bytes = Self.request(.write, text)
        var waiting: [WriteRequest] = []
        for _ in 0..<4 { waiting.append(try messages.message(bytes).1) }
        #expect(budget.heldBytes >= 400_000)
        #expect(waiting[0] == waiting[1], "memory is no part of what is asked for")
        #expect(throws: RPCStatus.self) {
            for _ in 0..<10 { waiting.append(try messages.message(bytes).1) }
        }
        waiting.removeLast(waiting.count - 1)
        #expect((100_000..<300_000).contains(budget.heldBytes))
        waiting = []
        #expect(budget.heldBytes == 0)
    }
}
