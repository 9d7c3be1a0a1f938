import Testing

@testable import TidemarkFiles

struct `Chunks that the system sends` {
    typealias Chunk = BackgroundChunks.Chunk

    private func chunk(
        file: Int64 = 1, of user: String = "61", session: String = "s", offset: Int64 = 0
    ) -> Chunk {
        var chunk = Chunk(user: [], file: file, address: "", offset: offset)
        (chunk.user, chunk.session) = (user, session)
        return chunk
    }

    @Test func `hold every file until they are known`() {
        var chunks = BackgroundChunks()
        #expect(chunks.holds(1, of: "61"))
        #expect(chunks.step(.found([:])) == [.look])
        #expect(!chunks.holds(1, of: "61"))
    }

    @Test func `hold their file until they end`() {
        var chunks = BackgroundChunks()
        #expect(chunks.step(.found([7: chunk()])) == [.wait(7), .look])
        #expect(chunks.holds(1, of: "61"))
        #expect(!chunks.holds(2, of: "61") && !chunks.holds(1, of: "62"))
        #expect(chunks.step(.row(file: 1, user: "61", session: "s")) == [])
        #expect(chunks.step(.ended(7)) == [.look])
        #expect(!chunks.holds(1, of: "61"))
        #expect(chunks.step(.late(7)) == [], "the chunk has ended")
    }

    @Test(arguments: [nil, "another"])
    func `are cancelled if no upload waits for them`(session: String?) {
        var chunks = BackgroundChunks()
        _ = chunks.step(.found([7: chunk(), 8: chunk(file: 2)]))
        let row = BackgroundChunks.Event.row(file: 1, user: "61", session: session)
        #expect(chunks.step(row) == [.cancel(7)])
        #expect(chunks.step(row) == [], "once is enough")
        #expect(chunks.holds(1, of: "61"), "it can still be on its way")
        #expect(chunks.step(.ended(7)) == [.look])
        #expect(!chunks.holds(1, of: "61") && chunks.holds(2, of: "61"))
    }

    @Test func `are cancelled if they take too long, or cannot be read`() {
        var chunks = BackgroundChunks()
        #expect(chunks.step(.found([7: chunk(), 8: nil])) == [.wait(7), .cancel(8), .look])
        #expect(chunks.step(.late(7)) == [.cancel(7)])
        #expect(chunks.step(.ended(8)) == [])
    }

    @Test func `of this process are not taken for those of another`() {
        var chunks = BackgroundChunks()
        _ = chunks.step(.found([:]))
        #expect(chunks.step(.started(3)) == [])
        #expect(chunks.step(.found([3: chunk()])) == [.look])
        #expect(!chunks.holds(1, of: "61"))
    }

    @Test func `let the system suspend the app when the next one has started`() {
        var chunks = BackgroundChunks()
        _ = chunks.step(.found([:]))
        #expect(chunks.step(.delivered) == [.look, .waitForChunk])
        #expect(chunks.step(.started(1)) == [.answerSystem])
        #expect(chunks.step(.deliveryLate) == [])
        #expect(chunks.step(.started(2)) == [], "once for each launch")
        #expect(chunks.step(.delivered) == [.look, .waitForChunk])
        #expect(chunks.step(.deliveryLate) == [.answerSystem], "nothing is left to send")
    }

    @Test func `have descriptions without secrets`() {
        let address = "https://storage.example/upload?upload_id=secret"
        let chunk = Chunk(user: [0x61, 0xFF], file: 1, address: address, offset: 5)
        #expect(chunk.user == "61ff" && !chunk.session.contains("secret"))
        #expect(chunk.session == Chunk.digest(of: address) && chunk.session.utf8.count == 64)
    }

    /// Kills and launches at any step: a session never receives two requests at a time, and in the
    /// end no file is held.
    @Test func `never meet another request in their session`() {
        var (kills, reattached, cancelled) = (0, 0, 0)
        for seed in UInt64(0)..<2_000 {
            var play = BackgroundPlay(seed: seed)
            play.run()
            #expect(play.faults == [], "seed \(seed)")
            if !play.faults.isEmpty { return }
            kills += play.kills
            reattached += play.reattached
            cancelled += play.cancelled
        }
        #expect(kills > 4_000 && reattached > 1_000 && cancelled > 500)
    }

    @Test func `would meet one if an upload did not wait`() {
        let found = (UInt64(0)..<200).contains { seed in
            var play = BackgroundPlay(seed: seed, waits: false)
            play.run()
            return !play.faults.isEmpty
        }
        #expect(found)
    }
}
