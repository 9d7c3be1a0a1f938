import Testing
import TidemarkModel
import TidemarkServer

struct FaultyCallTests {
    private let read = Request.runQuery(RunQueryRequest(query: collection("c")))

    @Test func `without orders nothing stands in the way`() throws {
        let world = try FaultyServer()
        #expect(world.commit(set("c/a", [:])).heard.status == .ok)
        try world.transport.order([try FaultRule("error=INTERNAL")])
        #expect(world.commit(set("c/a", [:])).heard.status?.code == .internal)
        try world.transport.order([FaultRule]())
        #expect(world.commit(set("c/a", [:])).heard.status == .ok)
    }

    @Test func `an error is answered, and the server hears nothing`() throws {
        let world = try FaultyServer("rpc=Commit,nth=1,error=ABORTED,text=Busy, try again.")
        let call = world.commit(set("c/a", [:]))
        #expect(call.heard.status == RPCStatus(.aborted, "Busy, try again."))
        #expect(world.server.server.meter().isEmpty)
        #expect(world.commit(set("c/a", [:])).heard.status == .ok)
    }

    @Test func `silence lasts until the caller gives up`() throws {
        let world = try FaultyServer("silence")
        let call = world.commit(set("c/a", [:]))
        world.run(for: .seconds(3_600))
        #expect(call.heard.status == nil)
        call.handle?.cancel()
        #expect(call.heard.status?.code == .cancelled)
        let limited = world.call(read, timeout: .seconds(5))
        world.run(for: .milliseconds(4_999))
        #expect(limited.heard.status == nil)
        world.run(for: .milliseconds(1))
        #expect(limited.heard.status?.code == .deadlineExceeded)
        #expect(world.server.server.meter().isEmpty)
    }

    @Test func `silence is bounded, and ends free its places`() throws {
        let world = try FaultyServer("silence")
        let calls = (0..<10_000).map { _ in
            world.transport.call(read, world.server.context()) { _ in }
        }
        #expect(world.call(read).heard.status?.code == .resourceExhausted)
        calls[0].cancel()
        calls[0].cancel()
        #expect(world.call(read).heard.status == nil)
        #expect(world.call(read).heard.status?.code == .resourceExhausted)
    }

    @Test func `latency delays the answer, not what the call does`() throws {
        let world = try FaultyServer("rpc=Commit,latency=400ms")
        let call = world.commit(set("c/a", [:]))
        #expect(try world.server.ids(collection("c")) == ["a"])
        world.run(for: .milliseconds(399))
        #expect(call.heard.messages.isEmpty)
        world.run(for: .milliseconds(1))
        #expect(call.heard.messages.count == 1)
        #expect(call.heard.status == .ok)
    }

    @Test func `a deadline and a cancellation do not wait for a late answer`() throws {
        let world = try FaultyServer("latency=18s")
        let call = world.call(read, timeout: .seconds(10))
        world.run(for: .seconds(10))
        #expect(call.heard.status?.code == .deadlineExceeded)
        let other = world.call(read)
        other.handle?.cancel()
        #expect(other.heard.status?.code == .cancelled)
        world.run(for: .seconds(60))
        #expect(other.heard.messages.isEmpty)
    }

    @Test func `a narrow line takes the time that the bytes take`() throws {
        let world = try FaultyServer("rpc=RunQuery,bandwidth=10000")
        let text = String(repeating: "x", count: 9_700)
        try world.server.commit(set("c/a", ["t": .string(text)]), set("c/b", ["t": .string(text)]))
        let call = world.call(read)
        world.run(for: .milliseconds(900))
        #expect(call.heard.messages.isEmpty)
        world.run(for: .milliseconds(200))
        #expect(call.heard.messages.count == 1)
        world.run(for: .seconds(1))
        #expect(call.heard.messages.count == 2)
        #expect(call.heard.status == .ok)
    }

    @Test func `an answer is lost after the commit took effect`() throws {
        let world = try FaultyServer("rpc=Commit,nth=1,lose-response")
        let call = world.commit(set("c/a", [:]))
        #expect(call.heard.messages.isEmpty)
        #expect(call.heard.status?.code == .unavailable)
        #expect(try world.server.ids(collection("c")) == ["a"])
        // The refusal of a retry that only creates shows that the first commit was applied.
        #expect(world.commit(set("c/a", [:], .exists(false))).heard.status?.code == .alreadyExists)
    }

    @Test func `an answer that was a refusal is lost all the same`() throws {
        let world = try FaultyServer("rpc=Commit,lose-response")
        #expect(world.commit(delete("c/a", .exists(true))).heard.status?.code == .unavailable)
    }

    @Test(arguments: [("before:2", 1), ("after:2", 2), ("before:1", 0), ("after:9", 3)])
    func `a stream of replies is cut where it was ordered`(place: String, count: Int) throws {
        let world = try FaultyServer("rpc=RunQuery,cut=\(place)")
        try world.server.commit(set("c/a", [:]), set("c/b", [:]), set("c/d", [:]))
        let call = world.call(read)
        #expect(call.heard.messages.count == count)
        #expect(call.heard.status?.code == (count == 3 ? .ok : .unavailable))
    }

    @Test func `a write stream loses an answer, and a client that takes it up is told`() throws {
        let world = try FaultyServer("rpc=Write,nth=1,lose-response")
        let heard = Heard<WriteResponse>()
        let stream = world.transport.write(world.server.context()) { heard.receive($0) }
        stream.send(WriteRequest())
        world.run()
        let opening = try #require(heard.messages.last)
        stream.send(WriteRequest(streamToken: opening.streamToken, mutations: [set("c/a", [:])]))
        world.run()
        #expect(heard.messages.count == 1)
        #expect(heard.status?.code == .unavailable)
        #expect(try world.server.ids(collection("c")) == ["a"])

        let again = Heard<WriteResponse>()
        let second = world.transport.write(world.server.context()) { again.receive($0) }
        second.send(
            WriteRequest(streamID: opening.streamID, streamToken: opening.streamToken))
        world.run()
        #expect(again.messages.compactMap(\.commitTime).count == 1)
    }

    @Test func `the slow backend answers after 18 seconds, and a healthy one at once`() throws {
        let world = try FaultyServer()
        world.transport.order(.slowBackend)
        let call = world.call(read)
        world.run(for: .milliseconds(17_999))
        #expect(call.heard.status == nil)
        world.run(for: .milliseconds(1))
        #expect(call.heard.status == .ok)
        world.transport.order(.healthy)
        #expect(world.call(read).heard.status == .ok)
    }
}
