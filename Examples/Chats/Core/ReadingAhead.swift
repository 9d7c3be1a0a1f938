import Tidemark
public import TidemarkApp

extension ChatsApp {
    /// Brings a chat up to date shortly before the person usually opens it, once it is turned on: opening it then
    /// costs one read, and one for a shared clear mark. The app tells it of each chat that is opened.
    ///
    /// - Parameter predictor: What was noted before; the app keeps it.
    public func readingAhead(_ predictor: PrefetchPredictor) -> Prefetcher {
        Prefetcher(predictor, clock: clock, now: now) { chat in
            // What fails is read when the chat is opened.
            _ = try? await Feed(messages(of: chat)).sync()
        }
    }
}
