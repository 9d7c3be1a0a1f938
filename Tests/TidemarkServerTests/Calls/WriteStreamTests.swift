import Testing
import TidemarkModel
import TidemarkServer

struct WriteStreamTests {
    let server: TestServer
    private let heard = Heard<WriteResponse>()
    private let stream: any RequestStream<WriteRequest>

    init() throws {
        server = try TestServer()
        let heard = heard
        stream = server.server.write(server.context("writer")) { heard.receive($0) }
    }

    @Test func `it opens with a token and answers each message in order`() throws {
        stream.send(WriteRequest())
        server.machine.run()
        let opening = try #require(heard.take().first)
        #expect(!opening.streamID.isEmpty)
        #expect(!opening.streamToken.isEmpty)
        #expect(opening.results.isEmpty)
        #expect(opening.commitTime == nil)
        // The client sends ten batches with the token of the opening, before any answer.
        for index in 0..<10 {
            stream.send(
                WriteRequest(
                    streamToken: opening.streamToken,
                    mutations: [set("c/\(index)", ["n": .integer(Int64(index))])]))
        }
        server.machine.run()
        let answers = heard.take()
        #expect(answers.count == 10)
        let times = answers.compactMap(\.commitTime)
        #expect(times.count == 10)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        #expect(Set(answers.map(\.streamToken)).count == 10)
        #expect(try server.ids(collection("c")).count == 10)
        stream.finish()
        server.machine.run()
        #expect(heard.status == .ok)
    }

    @Test func `a goodbye that comes along with the opening is answered`() throws {
        stream.send(WriteRequest())
        stream.send(WriteRequest())
        server.machine.run()
        #expect(heard.status == nil)
        let answers = heard.take()
        #expect(answers.count == 2)
        #expect(answers.last?.commitTime != nil)
        stream.send(WriteRequest(mutations: [set("c/a", [:])]))
        server.machine.run()
        #expect(heard.take().count == 1)
        #expect(try server.ids(collection("c")) == ["a"])
    }

    @Test func `a batch that fails ends it, and what follows is not done`() throws {
        stream.send(WriteRequest())
        stream.send(WriteRequest(mutations: [set("c/a", [:])]))
        stream.send(WriteRequest(mutations: [set("c/b", [:], .exists(true))]))
        stream.send(WriteRequest(mutations: [set("c/d", [:])]))
        server.machine.run()
        #expect(heard.messages.count == 2)
        #expect(heard.status?.code == .notFound)
        #expect(try server.ids(collection("c")) == ["a"])
    }

    @Test func `writes in the opening and foreign tokens are refused`() throws {
        stream.send(WriteRequest(mutations: [set("c/a", [:])]))
        server.machine.run()
        #expect(heard.status?.code == .invalidArgument)
        let other = Heard<WriteResponse>()
        let second = server.server.write(server.context()) { other.receive($0) }
        second.send(WriteRequest())
        second.send(WriteRequest(streamToken: [9], mutations: [set("c/a", [:])]))
        server.machine.run()
        #expect(other.messages.count == 1)
        #expect(other.status?.code == .invalidArgument)
        #expect(try server.ids(collection("c")).isEmpty)
    }

    @Test func `a cancelled stream ends so`() {
        stream.send(WriteRequest())
        stream.cancel()
        server.machine.run()
        #expect(heard.status?.code == .cancelled)
    }
}
