import Testing
import TidemarkModel

@testable import TidemarkWire

struct BodyBudgetTests {
    @Test func `what finds no room changes nothing, and what is let go is free again`() {
        let budget = BodyBudget(limit: 100)
        let first = budget.share()
        #expect(first.grow(by: 60))
        do {
            let second = budget.share()
            #expect(!second.grow(by: 41) && second.grow(by: 40) && !second.grow(by: 1))
            #expect(second.grow(by: 0), "nothing always fits")
            #expect(budget.heldBytes == 100)
            second.shrink(by: 15)
            #expect(budget.heldBytes == 85 && first.grow(by: 15))
        }
        #expect(budget.heldBytes == 75)
        first.shrink(by: 75)
        #expect(budget.heldBytes == 0 && first.grow(by: 100))
    }

    @Test(arguments: [1, 2, 3, 5, 6, 7, 11, 64, 1_000])
    func `messages are followed however frames cut them`(cut: Int) {
        var bytes: [UInt8] = []
        var ends: Set<Int> = [0]
        for length in [0, 1, 300, 0, 70_000, 5] {
            bytes += [0, 0, UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255)]
            bytes += [UInt8](repeating: 7, count: length)
            ends.insert(bytes.count)
        }
        var prefixes = MessagePrefixes()
        var place = 0
        while place < bytes.count {
            let end = min(place + cut, bytes.count)
            let waiting = bytes[place..<end].withUnsafeBytes { prefixes.read($0) }
            let begin = ends.filter { $0 <= end }.max() ?? 0
            #expect(waiting == end - begin)
            place = end
        }
        #expect(prefixes == MessagePrefixes())
    }
}

struct RequestPartsTests {
    private static func refuses(_ method: RPCMethod, _ bytes: [UInt8]) -> Bool {
        do throws(RPCStatus) {
            try RequestParts.check(method, bytes)
            return false
        } catch { return error.code == .invalidArgument }
    }

    private static func message(_ body: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        body(&writer)
        return writer.bytes
    }

    @Test(arguments: [(RPCMethod.commit, UInt64(2)), (.batchWrite, 2), (.write, 3)])
    func `empty writes are refused, and as many of use are not`(method: RPCMethod, field: UInt64) {
        let empty = Self.message { request in
            for _ in 0..<30_000 { request.message(field) { _ in } }
        }
        #expect(Self.refuses(method, empty))
        let name = "projects/p/databases/d/documents/c/i"
        let whole = Self.message { request in
            for _ in 0..<300_000 { request.message(field) { $0.text(2, name) } }
        }
        #expect(!Self.refuses(method, whole))
    }

    @Test func `masks, names and transforms count too`() {
        let masks = Self.message { request in
            request.message(2) { write in
                write.message(3) { mask in for _ in 0..<60_000 { mask.text(1, "") } }
            }
        }
        #expect(Self.refuses(.commit, masks))
        #expect(
            Self.refuses(
                .batchGetDocuments,
                Self.message { request in
                    for _ in 0..<60_000 { request.text(2, "") }
                }))
        #expect(
            Self.refuses(
                .commit,
                Self.message { request in
                    request.message(2) { write in for _ in 0..<30_000 { write.message(7) { _ in } }
                    }
                }))
    }

    @Test(arguments: [RPCMethod.runQuery, .partitionQuery, .runAggregationQuery, .listen])
    func `filters inside filters are counted`(method: RPCMethod) {
        func request(_ filters: Int) -> [UInt8] {
            let query: (inout WireWriter) -> Void = { query in
                query.message(3) { filter in
                    filter.message(1) { composite in
                        for _ in 0..<filters {
                            composite.message(2) { one in
                                one.message(2) { $0.text(3, String(repeating: "x", count: 40)) }
                            }
                        }
                    }
                }
            }
            return Self.message { request in
                request.message(2) { inner in
                    switch method {
                    case .runAggregationQuery: inner.message(1, query)
                    case .listen: inner.message(2) { $0.message(2, query) }
                    default: query(&inner)
                    }
                }
            }
        }
        #expect(Self.refuses(method, request(1_001)))
        #expect(!Self.refuses(method, request(900)))
    }

    @Test func `bytes that are no message are left to their decoder`() {
        let odd = [UInt8](repeating: 0xFF, count: 1 << 15)
        for method in RPCMethod.allCases { #expect(!Self.refuses(method, odd)) }
    }
}
