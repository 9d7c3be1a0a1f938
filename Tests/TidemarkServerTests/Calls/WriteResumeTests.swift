import Testing
import TidemarkModel
import TidemarkServer

/// An open connection of a write stream.
private final class Connection {
    let heard = Heard<WriteResponse>()
    private let stream: any RequestStream<WriteRequest>
    private let machine: TestMachine

    init(
        _ server: TestServer, after last: WriteResponse? = nil, database: DatabaseID? = nil
    ) {
        let heard = heard
        machine = server.machine
        stream = server.server.write(CallContext(database: database ?? server.database)) {
            heard.receive($0)
        }
        send(WriteRequest(streamID: last?.streamID ?? "", streamToken: last?.streamToken ?? []))
    }

    func send(_ request: WriteRequest) {
        stream.send(request)
        machine.run()
    }

    /// Adds one to the counter in each batch, and returns the server's answers.
    func count(_ batches: Int = 1) -> [WriteResponse] {
        _ = heard.take()
        for _ in 0..<batches { stream.send(WriteRequest(mutations: [increment])) }
        machine.run()
        return heard.take()
    }

    func goodbye() {
        stream.send(WriteRequest())
        stream.finish()
        machine.run()
    }
}

private let increment = Mutation(
    path: path("c/counter"), .patch([:], mask: []),
    transforms: [
        FieldTransform(FieldPath(name: "n"), .increment(.integer(1))),
        FieldTransform(FieldPath(name: "at"), .serverTimestamp),
    ])

extension TestServer {
    fileprivate func counter() throws -> Value? { try get("c/counter").fields["n"] }
}

struct WriteResumeTests {
    @Test func `lost answers come again before the handshake's, and nothing is applied twice`()
        throws
    {
        let server = try TestServer()
        let first = Connection(server)
        let opening = try #require(first.heard.take().first)
        #expect(opening.streamID.hasPrefix("tidemark-"))
        let answers = first.count(3)

        let second = Connection(server, after: answers[0])
        let again = second.heard.take()
        #expect(again.dropLast() == answers[1...])
        let last = try #require(again.last)
        #expect(last.streamID == opening.streamID)
        #expect(last.commitTime == nil && last.results.isEmpty)
        #expect(last.streamToken == answers[2].streamToken)
        #expect(first.heard.status?.code == .cancelled)
        // The server ignores later requests of the old connection.
        first.send(WriteRequest(mutations: [increment]))
        #expect(try server.counter() == .integer(3))
        #expect(second.count().map(\.streamID) == [opening.streamID])
        #expect(try server.counter() == .integer(4))
    }

    @Test func `a stream is taken up after a restart, as often as need be`() throws {
        let folder = try TemporaryFolder()
        let machine = TestMachine()
        var server = try TestServer(directory: folder.path, machine: machine)
        var connection = Connection(server)
        let opening = try #require(connection.heard.take().first)
        let answers = connection.count(2)
        #expect(answers.allSatisfy { $0.results[0].transformResults.count == 2 })
        for _ in 0..<2 {
            server.server.close()
            server = try TestServer(directory: folder.path, machine: machine)
            connection = Connection(server, after: opening)
            #expect(connection.heard.take().dropLast() == answers[...])
        }
        #expect(try server.counter() == .integer(2))
        let third = try #require(connection.count().first)
        #expect(Connection(server, after: answers[1]).heard.take().first == third)
    }

    @Test func `a batch that was refused is no position, nor is a goodbye`() throws {
        let server = try TestServer()
        let first = Connection(server)
        let opening = try #require(first.heard.take().first)
        // The mutations of a batch share one transaction, so the refused batch changes nothing.
        let stream = first
        let bad = set("c/b", [:], .exists(true))
        let answers = stream.count(1)
        stream.send(WriteRequest(mutations: [increment, bad]))
        #expect(stream.heard.status?.code == .notFound)

        let second = Connection(server, after: opening)
        #expect(second.heard.take().dropLast() == answers[...])
        second.goodbye()
        #expect(second.heard.status == .ok)
        let third = Connection(server, after: answers[0])
        #expect(third.heard.take().map(\.streamToken) == [answers[0].streamToken])
        #expect(try server.counter() == .integer(1))
    }

    @Test func `batches of one transaction are remembered each for itself`() throws {
        let server = try TestServer()
        let heard = Heard<WriteResponse>()
        let stream = server.server.write(server.context()) { heard.receive($0) }
        stream.send(WriteRequest())
        stream.send(WriteRequest(mutations: [increment]))
        stream.send(WriteRequest(mutations: [increment, set("c/b", [:], .exists(true))]))
        stream.send(WriteRequest(mutations: [increment]))
        server.machine.run()
        let told = heard.take()
        #expect(told.count == 2)
        let again = Connection(server, after: told[0]).heard.take()
        #expect(again.map(\.commitTime) == [told[1].commitTime, nil])
        #expect(try server.counter() == .integer(1))
    }

    @Test func `who asks for what is not known gets a new stream`() throws {
        let server = try TestServer()
        let connection = Connection(server)
        let opening = try #require(connection.heard.take().first)
        // The server stores nothing before the first batch, so the client loses nothing.
        #expect(isNew(Connection(server, after: opening), opening))
        let answers = Connection(server).count(11)
        let last = answers[10]
        var other = last
        other.streamID = "tidemark-other"
        #expect(isNew(Connection(server, after: other), last))
        other = last
        other.streamToken = [0, 0, 0, 0, 0, 0, 0, 12]
        #expect(isNew(Connection(server, after: other), last))
        other.streamToken = [255, 0, 0, 0, 0, 0, 0, 1]
        #expect(isNew(Connection(server, after: other), last))
        other.streamToken = []
        #expect(isNew(Connection(server, after: other), last))
        let elsewhere = try DatabaseID(project: "other")
        #expect(isNew(Connection(server, after: last, database: elsewhere), last))
        // The server keeps the last ten answers, and the request needs eleven.
        other.streamToken = [0, 0, 0, 0, 0, 0, 0, 0]
        #expect(isNew(Connection(server, after: other), last))
        #expect(Connection(server, after: answers[0]).heard.take().count == 11)
    }

    @Test func `a stream is remembered for a day`() throws {
        let server = try TestServer()
        let answer = try #require(Connection(server).count().first)
        server.machine.advance(.seconds(24 * 3_600))
        #expect(!isNew(Connection(server, after: answer), answer))
        server.machine.advance(.seconds(1))
        #expect(isNew(Connection(server, after: answer), answer))
    }

    @Test func `only so many streams are remembered, the newest`() throws {
        let server = try TestServer(rememberedWriteStreams: 2)
        let answers = (0..<4).flatMap { _ in Connection(server).count() }
        #expect(
            answers.map { isNew(Connection(server, after: $0), $0) } == [true, true, false, false])
    }

    private func isNew(_ connection: Connection, _ asked: WriteResponse) -> Bool {
        let told = connection.heard.take()
        return told.count == 1 && told[0].commitTime == nil && told[0].streamID != asked.streamID
            && told[0].streamID.hasPrefix("tidemark-")
    }
}
