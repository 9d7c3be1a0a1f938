import Synchronization
import Testing
import TidemarkModel
import TidemarkWire

@Suite(.timeLimit(.minutes(2))) struct PauseTests {
    /// Counts the rows of a call, and pauses the call once.
    private final class Sink: Sendable {
        private struct State {
            var rows = 0
            var call: (any CancellableCall)?
            var isWanted = false
        }

        private let state = Mutex(State())
        private let (paused, pausing) = AsyncStream.makeStream(of: Void.self)
        private let (ended, ending) = AsyncStream.makeStream(of: RPCStatus.self)
        let rowsBefore: Int

        init(pauseAfter rows: Int) { rowsBefore = rows }

        var rows: Int { state.withLock { $0.rows } }

        func attach(_ call: any CancellableCall) {
            state.withLock { state in
                state.call = call
                if state.isWanted { call.pause() }
            }
        }

        func receive(_ event: StreamEvent<Reply>) {
            switch event {
            case .message:
                state.withLock { state in
                    state.rows += 1
                    guard state.rows == rowsBefore else { return }
                    state.isWanted = true
                    state.call?.pause()
                    pausing.finish()
                }
            case .ended(let status):
                ending.yield(status)
                ending.finish()
            }
        }

        func waitForPause() async { for await _ in paused {} }

        func end() async -> RPCStatus? {
            for await status in ended { return status }
            return nil
        }
    }

    private let rows = (0..<2_000).map { row in
        Reply.runQuery(
            RunQueryReply(document: document("rooms/\(row)"), readTime: Timestamp(microseconds: 7)))
    }

    private static let request = Request.runQuery(
        RunQueryRequest(query: Query(collectionID: "rooms")))

    /// Returns a call whose receiver has paused it after ten rows.
    private func pausedCall(_ loopback: Loopback) async -> (any CancellableCall, Sink) {
        let sink = Sink(pauseAfter: 10)
        let call = loopback.client.call(Self.request, CallContext(database: database)) {
            sink.receive($0)
        }
        sink.attach(call)
        await sink.waitForPause()
        return (call, sink)
    }

    @Test func `a paused call hands over nothing until it is resumed, and others go on`()
        async throws
    {
        try await Loopback.with(ScriptedTransport(replies: rows)) { loopback in
            let (call, sink) = await pausedCall(loopback)
            let before = sink.rows
            for _ in 0..<3 {
                #expect(await loopback.client.answer(to: Self.request).replies.count == rows.count)
            }
            // A row may have been on its way when the receiver paused the call.
            #expect(sink.rows <= before + 1)
            #expect(before < rows.count)
            call.resume()
            #expect(await sink.end() == .ok)
            #expect(sink.rows == rows.count)
        }
    }

    @Test func `a paused call can be cancelled`() async throws {
        try await Loopback.with(ScriptedTransport(replies: rows)) { loopback in
            let (call, sink) = await pausedCall(loopback)
            call.cancel()
            #expect(await sink.end()?.code == .cancelled)
        }
    }
}
