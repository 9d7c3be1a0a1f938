import Testing
import Tidemark
import TidemarkApp

struct `The ledger of a prefetcher` {
    private func time(_ minutes: Int64) -> Timestamp {
        Timestamp(seconds: minutes * 60, nanoseconds: 0)
    }

    @Test func `counts what was opened in time, what was not, and what nobody predicted`() {
        var ledger = PrefetchLedger()
        #expect(ledger.hitRate == nil)
        ledger.warmed("chat", at: time(0))
        ledger.opened("chat", at: time(10))
        ledger.opened("chat", at: time(20))
        #expect((ledger.hits, ledger.misses, ledger.cold) == (1, 0, 1))
        ledger.warmed("chat", at: time(100))
        ledger.warmed("posts", at: time(100))
        ledger.opened("chat", at: time(161))
        #expect((ledger.hits, ledger.misses, ledger.cold) == (1, 2, 2), "both came to nothing")
        ledger.warmed("chat", at: time(200))
        ledger.warmed("chat", at: time(230))
        ledger.expire(at: time(290))
        #expect(ledger.misses == 3, "the first of the two")
        ledger.expire(at: time(291))
        #expect(ledger.misses == 4 && ledger.hitRate == 0.2)
    }
}
