import Testing
import TidemarkModel
import TidemarkServer

/// Batch writes and write streams wait for the locks of a transaction.
struct ParkedWriteTests {
    let server: TestServer
    let reader: TransactionID

    init() throws {
        server = try TestServer()
        try server.commit(set("c/a", ["n": .integer(1)]))
        reader = try server.begin()
        _ = try server.get("c/a", at: .transaction(reader))
    }

    // MARK: Batch writes

    private func startBatch(_ mutations: Mutation...) -> TestCall {
        server.start(.batchWrite(BatchWriteRequest(mutations: mutations)))
    }

    private func codes(_ call: TestCall) -> [RPCStatus.Code]? {
        guard case .batchWrite(let results)? = call.replies.first else { return nil }
        return results.map(\.status.code)
    }

    @Test func `of a batch write only what is locked waits`() throws {
        let batch = startBatch(
            set("c/b", [:]), set("c/a", ["n": .integer(2)]), set("c/d", [:], .exists(true)))
        #expect(batch.status == nil)
        _ = try server.get("c/b")
        try server.commit(transaction: reader)
        #expect(codes(batch) == [.ok, .ok, .notFound])
        #expect(batch.status == .ok)
        #expect(try server.get("c/a").fields["n"] == .integer(2))
    }

    @Test func `what has waited too long fails alone`() throws {
        let batch = startBatch(set("c/a", [:]), set("c/b", [:]))
        server.machine.advance(.seconds(15))
        #expect(codes(batch) == [.aborted, .ok])
        #expect(batch.status == .ok)
    }

    @Test func `a batch write that is cancelled does no more`() throws {
        let batch = startBatch(set("c/a", ["n": .integer(2)]), set("c/b", [:]))
        batch.cancel()
        #expect(batch.status?.code == .cancelled)
        try server.commit(transaction: reader)
        #expect(try server.get("c/a").fields["n"] == .integer(1))
    }

    // MARK: Write streams

    @Test func `later batches of a stream stay behind one that waits`() throws {
        let stream = TestWrites(server)
        stream.open()
        #expect(stream.send(set("c/a", ["n": .integer(2)])).isEmpty)
        #expect(stream.send(set("c/b", [:])).isEmpty)
        #expect(refusal { _ = try server.get("c/b") }?.code == .notFound)
        stream.finish()
        #expect(stream.heard.status == nil)
        try server.commit(transaction: reader)
        #expect(stream.take().count == 2)
        #expect(stream.heard.status == .ok)
        #expect(try server.get("c/b").fields == [:])
    }

    @Test func `a stream whose batch waits twice goes on after the second wait`() throws {
        let stream = TestWrites(server)
        stream.open()
        let other = try server.begin()
        _ = try? server.get("c/b", at: .transaction(other))
        _ = stream.send(set("c/a", [:]))
        _ = stream.send(set("c/b", [:]))
        _ = stream.send(set("c/d", [:]))
        try server.commit(transaction: reader)
        #expect(stream.take().count == 1)
        try server.commit(transaction: other)
        #expect(stream.take().count == 2)
    }

    @Test func `a batch that has waited too long ends its stream, and nothing after it is done`()
        throws
    {
        let stream = TestWrites(server)
        stream.open()
        _ = stream.send(set("c/a", [:]))
        _ = stream.send(set("c/b", [:]))
        server.machine.advance(.seconds(15))
        #expect(stream.heard.status?.code == .aborted)
        #expect(refusal { _ = try server.get("c/b") }?.code == .notFound)
    }

    @Test func `a stream that is cancelled takes its batches along`() throws {
        let stream = TestWrites(server)
        stream.open()
        _ = stream.send(set("c/a", ["n": .integer(2)]))
        stream.cancel()
        #expect(stream.heard.status?.code == .cancelled)
        try server.commit(transaction: reader)
        #expect(try server.get("c/a").fields["n"] == .integer(1))
    }

    @Test func `a stream that sends on and on while it waits is ended`() throws {
        let stream = TestWrites(server)
        stream.open()
        for index in 0...100 {
            _ = stream.send(set("c/a", ["n": .integer(Int64(index))]))
            #expect(stream.heard.status == nil)
        }
        _ = stream.send(set("c/a", [:]))
        #expect(stream.heard.status?.code == .resourceExhausted)
    }

    @Test func `a stream that is taken up again loses the batch that waits`() throws {
        let stream = TestWrites(server)
        let opened = stream.open()
        _ = stream.send(set("c/a", ["n": .integer(2)]))
        let next = TestWrites(server)
        next.open(opened?.streamID ?? "", opened?.streamToken ?? [])
        #expect(stream.heard.status?.code == .cancelled)
        // A client sends its lost batch again, here with another value.
        _ = next.send(set("c/a", ["n": .integer(3)]))
        try server.commit(transaction: reader)
        #expect(next.take().count == 1)
        #expect(try server.get("c/a").fields["n"] == .integer(3))
    }
}

/// A write stream.
final class TestWrites {
    let server: TestServer
    let heard = Heard<WriteResponse>()
    private let stream: any RequestStream<WriteRequest>
    private var token: [UInt8] = []

    init(_ server: TestServer) {
        self.server = server
        let heard = heard
        stream = server.server.write(server.context()) { heard.receive($0) }
    }

    @discardableResult
    func open(_ id: String = "", _ token: [UInt8] = []) -> WriteResponse? {
        stream.send(WriteRequest(streamID: id, streamToken: token))
        return take().last
    }

    func send(_ mutations: Mutation...) -> [WriteResponse] {
        stream.send(WriteRequest(streamToken: token, mutations: mutations))
        return take()
    }

    func take() -> [WriteResponse] {
        server.machine.run()
        let responses = heard.take()
        token = responses.last?.streamToken ?? token
        return responses
    }

    func finish() {
        stream.finish()
        server.machine.run()
    }

    func cancel() {
        stream.cancel()
        server.machine.run()
    }
}
