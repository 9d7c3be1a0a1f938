import Testing
import TidemarkModel
import TidemarkServer

@testable import TidemarkWire

@Suite(.timeLimit(.minutes(2))) struct `Another network` {
    /// Concerns a ping behind a long answer: a lost packet delays everything behind it.
    @Test func `an answer to a ping is not behind more than 3G brings until it is due`() throws {
        guard case .open(let pacing) = NetworkProfile.threeG.link else {
            Issue.record("3G is an open link")
            return
        }
        let slowest = Double(try #require(pacing.bytesPerSecond)) / 6
        #expect(Double(Channel.window) / slowest < Channel.pingTimeout / .seconds(1))
    }

    @Test func `is met with another connection, and what is under way goes on`() async throws {
        let rows = (0..<50).map { row in
            Reply.runQuery(
                RunQueryReply(
                    document: document("rooms/\(row)"), readTime: Timestamp(microseconds: 7)))
        }
        let query = Request.runQuery(RunQueryRequest(query: Query(collectionID: "rooms")))
        try await Loopback.with(ScriptedTransport(replies: rows)) { loopback in
            #expect(await loopback.client.answer(to: query).replies == rows)
            let old = try loopback.client.channel()
            async let underWay = loopback.client.answer(to: query)
            loopback.client.networkChanged()
            #expect(try loopback.client.channel() !== old)
            #expect(await underWay.status == .ok)
            #expect(await loopback.client.answer(to: query).replies == rows)
            // A change of network has no effect if there is no connection.
            loopback.client.networkChanged()
            loopback.client.networkChanged()
            #expect(await loopback.client.answer(to: query).replies == rows)
        }
    }

    /// The change can come between the choice of a connection and the opening of a stream on it.
    @Test func `loses no call that begins at the same time`() async throws {
        let reply = Reply.runQuery(
            RunQueryReply(document: document("rooms/a"), readTime: Timestamp(microseconds: 7)))
        let query = Request.runQuery(RunQueryRequest(query: Query(collectionID: "rooms")))
        try await Loopback.with(ScriptedTransport(replies: [reply])) { loopback in
            for _ in 0..<100 {
                await withTaskGroup(of: RPCStatus.self) { group in
                    for _ in 0..<4 {
                        group.addTask { await loopback.client.answer(to: query).status }
                        loopback.client.networkChanged()
                    }
                    for await status in group { #expect(status == .ok) }
                }
            }
        }
    }
}
