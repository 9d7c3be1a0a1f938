import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkServer
import TidemarkTesting

@testable import TidemarkDemo

@Suite(.timeLimit(.minutes(2))) struct `The demo of a day` {
    private func app(
        _ lines: [[String]], ends: Bool
    ) -> (app: DayApp, input: AsyncStream<[String]>.Continuation) {
        let (stream, input) = AsyncStream.makeStream(of: [String].self)
        for line in lines { input.yield(line) }
        if ends { input.finish() }
        let app = DayApp(
            version: .before, process: AppProcess([]), lines: stream, counter: BurstCounter(),
            start: BurstCount())
        return (app, input)
    }

    @Test func `goes on when the app shows the message that is waited for`() async throws {
        let (app, input) = app([["shown", "m1"], ["other"], ["shown", "m2"]], ends: false)
        try await app.shows("m1")
        try await app.shows("m2")
        input.yield(["shown", "m3"])
        try await app.shows("m3")
    }

    @Test func `ends with the message that an ended app did not show`() async throws {
        let (app, _) = app([["shown", "m1"]], ends: true)
        let error = await #expect(throws: DayError.self) { try await app.shows("m2") }
        #expect(error == .ended(.before, message: "m2"))
        #expect(error.map { "\($0)" } == "The app as it was ended before it showed message m2.")
    }

    @Test func `ends when a running app does not show the message`() async throws {
        let (app, input) = app([["shown", "m1"]], ends: false)
        let error = await #expect(throws: DayError.self) {
            try await app.shows("m2", within: .seconds(1))
        }
        #expect(error == .didNotShow(.before, message: "m2", seconds: 1))
        #expect(
            error.map { "\($0)" } == "The app as it was did not show message m2 within 1 s.")
        input.finish()
    }

    @Test func `fails for a day that costs a read more than predicted`() {
        let demo = DayDemo.small
        // Two launches with five messages each, which the next launch reads again; one more
        // message, three arrivals, and a minute.
        #expect(demo.forecast.bill.reads == 2 * (5 + 5) + 1 + 3 + 1)
        #expect(demo.forecast.bill.units.realtimeUpdate == 3 + 1)
        func complaint(_ reads: Int) -> String? {
            demo.forecast.complaint(PlannedBill(reads: reads), in: .standard)
        }
        #expect(complaint(25) == nil)
        #expect(complaint(26)?.hasPrefix("predicted 25 reads, but billed 26 reads") == true)
    }

    /// The client counts the bytes of its messages too, without the frames around them.
    @Test func `counts at its gate at least the bytes that the client counts`() async throws {
        let local = try LocalFirestore.start()
        let counter = BurstCounter()
        let gate = NetworkGate(host: "127.0.0.1", port: 0) { counter.add($0) }
        let port = try await gate.open(to: try await local.serve().port, .healthy)
        #expect(counter.count.bytes == 0 && counter.count.bursts == 0)
        let firestore = try Firestore(
            projectID: "local",
            settings: FirestoreSettings(host: "127.0.0.1:\(port)", isSSLEnabled: false))
        let room = firestore.document("rooms/blue")
        try await room.setData(["text": String(repeating: "a", count: 9_000)])
        _ = try await room.getDocument(source: .server)
        let own = await firestore.terminateCountingBytes()
        #expect(own > 18_000 && counter.count.bytes >= own)
        #expect(counter.count.bursts >= 1)
        await gate.close()
        await local.stop()
    }
}
