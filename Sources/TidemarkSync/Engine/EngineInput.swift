import TidemarkModel

/// An event from outside the engine's executor: a message of a stream or a call, or the end of work
/// on another thread. Each starts a job of the engine.
enum EngineInput: Sendable {
    /// - Parameter generation: The number of the stream. The part ignores events of older streams.
    case listen(StreamEvent<ListenResponse>, generation: Int)
    case write(StreamEvent<WriteResponse>, generation: Int)
    case reply(StreamEvent<Reply>, call: UInt64, attempt: Int, ReplyFlowControl)
    /// A newer copy of the cache that another process holds, made on another thread; nil if the
    /// copy failed.
    case copied(ViewedCache?, number: Int, since: Duration)
}
