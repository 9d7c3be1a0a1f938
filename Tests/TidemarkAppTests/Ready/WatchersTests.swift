import Testing

@testable import TidemarkApp

@Suite(.timeLimit(.minutes(1))) struct WatchersTests {
    /// A cancellation and a new value lock the same task from two sides. Each held the lock that
    /// the other waited for.
    @Test func `a value is told while its watchers are cancelled`() async {
        let watchers = Watchers(0)
        let telling = Task.detached { for value in 1...1_000_000 { watchers.notify(value) } }
        for _ in 0..<20_000 {
            let watching = Task { for await _ in watchers.stream {} }
            await Task.yield()
            watching.cancel()
            await watching.value
        }
        await telling.value
    }
}
