import Tidemark
public import TidemarkApp

extension ChatsApp {
    /// Returns a prefetcher that updates a chat shortly before the user usually opens it. Opening
    /// the chat then costs one read, and one more for a shared clear mark. The app enables the
    /// prefetcher and reports each opened chat to it.
    ///
    /// - Parameter predictor: The opening times recorded so far; the app stores them.
    public func readingAhead(_ predictor: PrefetchPredictor) -> Prefetcher {
        Prefetcher(predictor, clock: clock, now: now) { chat in
            // A failed sync is ignored, because opening the chat reads the changes.
            _ = try? await Feed(messages(of: chat)).sync()
        }
    }
}
