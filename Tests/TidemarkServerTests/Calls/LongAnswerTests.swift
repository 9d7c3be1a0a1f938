import Synchronization
import Testing
import TidemarkModel
import TidemarkServer

/// The server sends long answers in parts. The next part follows when the reader has room.
struct LongAnswerTests {
    let server: TestServer

    init() throws { server = try TestServer(history: .seconds(60)) }

    private static let count = 2_500

    private func id(_ number: Int) -> String { String(number + 10_000) }

    /// Writes documents whose `n` falls while the name rises, so an order by `n` has to sort.
    private func fill() throws {
        for start in stride(from: 0, to: Self.count, by: 500) {
            let writes = (start..<(start + 500)).map {
                set("c/\(id($0))", ["n": .integer(Int64(-$0)), "text": .string("as it was")])
            }
            let request = CommitRequest(mutations: writes)
            _ = try server.replies(.commit(request))
        }
    }

    private func run(_ query: Query) -> SlowCall {
        SlowCall(server, .runQuery(RunQueryRequest(query: query)))
    }

    private var byNumber: Query {
        Query(
            collectionID: "c", orders: [Order(FieldPath(unchecked: ["n"]), .ascending)])
    }

    @Test func `a reader with room gets all rows as of one time, and is billed once`() throws {
        try fill()
        let replies = try server.query(collection("c"), label: "reader")
        #expect(replies.compactMap(\.document?.path.id) == (0..<Self.count).map(id))
        #expect(Set(replies.map(\.readTime)).count == 1)
        #expect(server.reads("reader") == Self.count)
    }

    @Test(arguments: [false, true])
    func `a reader without room holds the rest back, and changes do not reach it`(
        isSorted: Bool
    ) throws {
        try fill()
        let call = run(isSorted ? byNumber : collection("c"))
        call.pauseAtFirst()
        server.machine.run()
        #expect((1...1_000).contains(call.documents.count))
        #expect(call.heard.status == nil)
        try server.commit(
            set("c/\(id(1))", ["n": .integer(5)]), delete("c/\(id(2_000))"),
            set("c/\(id(2_400))", ["n": .integer(-9_999_999)]),
            set("c/\(id(1_500))5", ["n": .integer(-1_500)]), set("c/0", ["n": .integer(-2_001)]))
        call.resume()
        let wanted = (0..<Self.count).map(id)
        #expect(call.documents.map(\.path.id) == (isSorted ? wanted.reversed() : wanted))
        #expect(call.documents.allSatisfy { $0.fields["text"] == .string("as it was") })
        #expect(Set(call.replies.map(\.readTime)).count == 1)
        #expect(call.heard.status == .ok)
    }

    @Test func `limit and offset are of the whole, however many parts there are`() throws {
        try fill()
        var query = collection("c")
        query.offset = 10
        query.limit = .first(2_100)
        let call = run(query)
        call.pauseAtFirst()
        server.machine.run()
        #expect(call.documents.count <= 1_000)
        try server.commit(delete("c/\(id(1_800))"))
        call.resume()
        #expect(call.documents.map(\.path.id) == (10..<2_110).map(id))
        #expect(call.replies.map(\.skippedResults).reduce(0, +) == 10)
    }

    @Test func `large documents go out a few at a time`() throws {
        let text = String(repeating: "x", count: 200_000)
        for number in 0..<20 {
            try server.commit(set("large/\(id(number))", ["text": .string(text)]))
        }
        let call = run(collection("large"))
        call.pauseAtFirst()
        server.machine.run()
        #expect((1...5).contains(call.documents.count))
        call.resume()
        #expect(call.documents.map(\.path.id) == (0..<20).map(id))
    }

    @Test func `a batch get in parts tells the missing last, as of one time`() throws {
        try fill()
        let names = (0..<Self.count).flatMap { ["c/\(id($0))", "c/none-\($0)"] }
        let call = SlowCall(
            server, .batchGetDocuments(BatchGetDocumentsRequest(paths: names.map(path))))
        call.pauseAtFirst()
        server.machine.run()
        #expect((1...1_000).contains(call.heard.messages.count))
        try server.commit(delete("c/\(id(2_000))"), set("c/none-1", ["n": .integer(1)]))
        call.resume()
        let rows = call.heard.messages.map { reply -> String in
            guard case .batchGetDocuments(let result) = reply else { return "" }
            switch result.row {
            case .found(let document)?: return document.path.text
            case .missing(let path)?: return "no " + path.text
            case nil: return ""
            }
        }
        let wanted =
            (0..<Self.count).map { "c/\(id($0))" } + (0..<Self.count).map { "no c/none-\($0)" }
        #expect(rows == wanted)
        #expect(call.heard.status == .ok)
    }

    @Test func `an answer ends when what it is made of is no longer kept`() throws {
        try fill()
        let call = run(collection("c"))
        call.pauseAtFirst()
        server.machine.run()
        server.machine.advance(.seconds(3_600))
        // The server trims the log in slices, one slice per commit.
        for number in 0..<5 { try server.commit(set("other/\(number)", [:])) }
        server.machine.advance(.seconds(3_600))
        for number in 0..<5 { try server.commit(set("other/\(number)", ["n": .integer(1)])) }
        call.resume()
        #expect(call.heard.status?.code == .resourceExhausted)
        #expect(call.documents.count <= 1_000)
    }

    @Test func `a call that is cancelled while it waits ends once`() throws {
        try fill()
        let call = run(collection("c"))
        call.pauseAtFirst()
        server.machine.run()
        call.cancel()
        #expect(call.heard.status?.code == .cancelled)
        let count = call.heard.messages.count
        call.resume()
        #expect(call.heard.messages.count == count)
    }

    @Test func `a server that closes ends the answers that wait`() throws {
        try fill()
        let call = run(collection("c"))
        call.pauseAtFirst()
        server.machine.run()
        server.server.close()
        #expect(call.heard.status?.code == .unavailable)
    }

    @Test func `waiting requests are bounded by their size`() throws {
        let large = MapValue([("a", .array(Array(repeating: .integer(1), count: 1_000_000)))])
        let heard = (0..<12).map { _ in Heard<Reply>() }
        for (number, heard) in heard.enumerated() {
            let request = CommitRequest(
                mutations: [Mutation(path: path("c/\(number)"), .set(large))])
            _ = server.server.call(.commit(request), server.context()) { heard.receive($0) }
        }
        server.machine.run()
        let codes = heard.compactMap(\.status?.code)
        #expect(codes.count == 12)
        // A request has 24 MB, and 256 MiB of requests can wait.
        #expect(codes.filter { $0 == .resourceExhausted }.count == 1)
    }
}

/// A call whose reader can stop reading.
private final class SlowCall: Sendable {
    let heard = Heard<Reply>()
    private let server: TestServer
    private let call: any CancellableCall
    private let pausing: Pausing

    /// Holds the call that the sink pauses at its next event; nil for none.
    private final class Pausing: Sendable {
        let call = Mutex<(any CancellableCall)?>(nil)
    }

    init(_ server: TestServer, _ request: Request) {
        self.server = server
        let pausing = Pausing()
        let heard = heard
        call = server.server.call(request, server.context()) { event in
            pausing.call.withLock { $0.take() }?.pause()
            heard.receive(event)
        }
        self.pausing = pausing
    }

    func pauseAtFirst() { pausing.call.withLock { $0 = call } }

    func resume() {
        call.resume()
        server.machine.run()
    }

    func cancel() {
        call.cancel()
        server.machine.run()
    }

    var replies: [RunQueryReply] {
        heard.messages.compactMap { if case .runQuery(let reply) = $0 { reply } else { nil } }
    }

    var documents: [Document] { replies.compactMap(\.document) }
}
