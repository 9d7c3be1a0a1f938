import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

private let gone = RPCStatus(.unavailable, "gone")

private func opening(_ token: UInt8, id: String = "tidemark-1") -> WriteResponse {
    WriteResponse(streamID: id, streamToken: [token])
}

private func answer(_ token: UInt8, at time: Int64) -> WriteResponse {
    WriteResponse(
        streamID: "tidemark-1", streamToken: [token],
        results: [MutationResult(updateTime: at(time))], commitTime: at(time))
}

struct WriteStreamResumeTests {
    private let start = WriteStream.Event.lifecycle(.start(elapsed: .zero, jitter: 0.5))

    private func position(_ token: UInt8) -> WritePosition? {
        WritePosition(streamID: "tidemark-1", token: [token])
    }

    private func request(_ effects: [WriteStream.Effect]) -> WriteRequest? {
        effects.lazy.compactMap { if case .request(let request) = $0 { request } else { nil } }
            .first
    }

    @Test func `a stream asks for the one before, and takes its answers before the handshake's`() {
        var machine = WriteStream(position: position(3))
        #expect(
            request(machine.step(start))
                == WriteRequest(streamID: "tidemark-1", streamToken: [3]))
        for token in UInt8(4)...5 {
            #expect(
                machine.step(.received(answer(token, at: Int64(token)))) == [
                    .committed(
                        results: [MutationResult(updateTime: at(Int64(token)))],
                        commitTime: at(Int64(token)), position: position(token))
                ])
            #expect(!machine.isReady)
        }
        #expect(machine.step(.received(opening(5))) == [.ready(position(5))])
        #expect(machine.isReady)
    }

    @Test func `the newest answer is where the next stream begins`() {
        var machine = WriteStream()
        #expect(request(machine.step(start)) == WriteRequest())
        _ = machine.step(.received(opening(1)))
        _ = machine.step(.received(answer(2, at: 2)))
        _ = machine.step(.lifecycle(.stop))
        #expect(
            request(machine.step(start))
                == WriteRequest(streamID: "tidemark-1", streamToken: [2]))
        // The stream breaks while the missed responses arrive. The client does not ask again for
        // those that arrived.
        _ = machine.step(.received(answer(3, at: 3)))
        _ = machine.step(.lifecycle(.ended(gone)))
        _ = machine.step(start)
        #expect(
            request(machine.step(.lifecycle(.backoffElapsed)))
                == WriteRequest(streamID: "tidemark-1", streamToken: [3]))
    }

    @Test func `another id in the answer is a new stream`() {
        var machine = WriteStream(position: position(3))
        _ = machine.step(start)
        let fresh = WritePosition(streamID: "tidemark-2", token: [0])
        #expect(machine.step(.received(opening(0, id: "tidemark-2"))) == [.ready(fresh)])
        #expect(machine.step(.received(opening(0, id: "tidemark-2"))).isEmpty)
    }

    @Test func `streams of other servers are not asked for`() {
        var machine = WriteStream()
        _ = machine.step(start)
        #expect(machine.step(.received(opening(1, id: "42"))) == [.ready(nil)])
        _ = machine.step(.lifecycle(.stop))
        #expect(request(machine.step(start)) == WriteRequest())
    }

    @Test func `a refusal of the handshake forgets the stream, a failure does not`() {
        var machine = WriteStream(position: position(3))
        _ = machine.step(start)
        #expect(
            machine.step(.lifecycle(.ended(gone))).last == .failed(gone, wasReady: false))
        _ = machine.step(start)
        #expect(
            request(machine.step(.lifecycle(.backoffElapsed)))
                == WriteRequest(streamID: "tidemark-1", streamToken: [3]))
        let refusal = RPCStatus(.invalidArgument, "what stream?")
        #expect(machine.step(.lifecycle(.ended(refusal))).last == .resumeRefused)
        _ = machine.step(start)
        #expect(request(machine.step(.lifecycle(.backoffElapsed))) == WriteRequest())
        #expect(
            machine.step(.lifecycle(.ended(refusal))).last == .failed(refusal, wasReady: false))
    }
}

struct EngineResumeTests {
    private func push(_ world: Harness, _ responses: WriteResponse...) {
        for response in responses { world.writeStream.push(response) }
        world.run()
    }

    @Test func `a killed client asks for the answers it missed, and sends only the rest`() throws {
        let file = TemporaryFile()
        var before: Harness? = try Harness(cacheFile: file.path)
        for id in ["a", "b", "c"] { _ = before!.write(set("rooms/\(id)", [:])) }
        push(before!, opening(0), answer(1, at: 30))
        before = nil

        let after = try Harness(cacheFile: file.path)
        #expect(
            after.writeStream.sent
                == [WriteRequest(streamID: "tidemark-1", streamToken: [1])])
        push(after, answer(2, at: 40), opening(2))
        #expect(
            after.writeStream.sent.dropFirst()
                == [WriteRequest(streamToken: [2], mutations: [set("rooms/c", [:])])])
        push(after, answer(3, at: 50))
        after.terminate()
        #expect(try Harness(cacheFile: file.path).transport.writes.isEmpty)
    }

    @Test func `the id is kept before the first batch is sent`() throws {
        let file = TemporaryFile()
        var before: Harness? = try Harness(cacheFile: file.path)
        _ = before!.write(set("rooms/a", [:]))
        push(before!, opening(0))
        before = nil
        let after = try Harness(cacheFile: file.path)
        #expect(after.writeStream.sent.first?.streamID == "tidemark-1")
    }

    @Test func `a refused resume is forgotten on disk, and everything is sent`() throws {
        let file = TemporaryFile()
        let world = try Harness(cacheFile: file.path)
        _ = world.write(set("rooms/a", [:]))
        push(world, opening(0))
        world.writeStream.end(gone)
        world.run()
        world.scheduler.advance(by: .zero)
        #expect(world.writeStream.sent.first?.streamID == "tidemark-1")
        world.writeStream.end(RPCStatus(.invalidArgument, "no such stream"))
        world.run()
        world.scheduler.advance(by: .zero)
        #expect(world.writeStream.sent == [WriteRequest()])
        push(world, opening(0, id: "42"))
        #expect(world.writeStream.sent.count == 2)
        world.terminate()
        #expect(try Harness(cacheFile: file.path).writeStream.sent == [WriteRequest()])
    }

    /// If the client gave up the resume, a new stream would apply the batch a second time.
    @Test(arguments: [RPCStatus.Code.aborted, .permissionDenied, .unauthenticated])
    func `a resume that fails for a while is tried again, and not given up`(
        code: RPCStatus.Code
    ) throws {
        let world = try Harness()
        _ = world.write(set("rooms/a", [:]))
        push(world, opening(0))
        world.writeStream.end(gone)
        world.run()
        world.scheduler.advance(by: .zero)
        for _ in 0..<4 {
            world.writeStream.end(RPCStatus(code, "not now"))
            world.run()
            world.scheduler.advance(by: .seconds(90))
            #expect(
                world.writeStream.sent == [WriteRequest(streamID: "tidemark-1", streamToken: [0])])
        }
        // The batch was applied: its response arrives, and the client does not send it again.
        push(world, answer(1, at: 30), opening(1))
        #expect(world.writeStream.sent.count == 1)
    }

    @Test func `an answer that cannot be stored is asked for again after a kill`() throws {
        let file = TemporaryFile()
        var before: Harness? = try Harness(cacheFile: file.path)
        _ = before!.write(set("rooms/a", [:]))
        push(before!, opening(0))
        try before!.engine.core.local.store.close()
        push(before!, answer(1, at: 30))
        before = nil
        let after = try Harness(cacheFile: file.path)
        #expect(
            after.writeStream.sent
                == [WriteRequest(streamID: "tidemark-1", streamToken: [0])])
        push(after, answer(1, at: 30), opening(1))
        #expect(after.writeStream.sent.count == 1)
        after.terminate()
        #expect(try Harness(cacheFile: file.path).transport.writes.isEmpty)
    }

    /// A server that cannot accept a message may end the stream before it has answered the earlier
    /// batches.
    @Test func `a refusal of one of several batches is blamed on the right one`() throws {
        let file = TemporaryFile()
        let world = try Harness(cacheFile: file.path)
        let batches = ["a", "b", "c"].map { world.write(set("rooms/\($0)", [:])) }
        push(world, opening(0))
        let status = RPCStatus(.invalidArgument, "too large")
        world.writeStream.end(status)
        world.run()
        world.scheduler.advance(by: .zero)
        #expect(
            world.writeStream.sent
                == [WriteRequest(streamID: "tidemark-1", streamToken: [0])])
        push(world, answer(1, at: 30), opening(1))
        #expect(batches[0].all.last == .acknowledged(commitTime: at(30)))
        // The next batch is sent alone, so a refusal can only concern this batch.
        #expect(world.writeStream.sent.dropFirst().map(\.mutations) == [[set("rooms/b", [:])]])
        world.writeStream.end(status)
        world.run()
        #expect(batches[1].all.last == .failed(.server(status)))
        // The queue has no unanswered batch, so the next stream is a new one.
        world.scheduler.advance(by: .zero)
        #expect(world.writeStream.sent == [WriteRequest()])
        push(world, opening(0))
        #expect(world.writeStream.sent.last?.mutations == [set("rooms/c", [:])])
        for id in ["d", "e"] { _ = world.write(set("rooms/\(id)", [:])) }
        #expect(world.writeStream.sent.count == 4, "several at once again")
    }

    @Test func `a rejected batch and the stream are forgotten together`() throws {
        let file = TemporaryFile()
        let world = try Harness(cacheFile: file.path)
        let bad = world.write(set("rooms/a", [:]))
        push(world, opening(0))
        let status = RPCStatus(.permissionDenied, "no")
        world.writeStream.end(status)
        world.run()
        #expect(bad.all.last == .failed(.server(status)))
        _ = world.write(set("rooms/b", [:]))
        world.scheduler.advance(by: .zero)
        #expect(world.writeStream.sent == [WriteRequest()])
        world.terminate()
        #expect(try Harness(cacheFile: file.path).writeStream.sent == [WriteRequest()])
    }
}
