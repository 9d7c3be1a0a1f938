import NIOCore
import NIOPosix

/// Counts the bytes that a stream has written and that may still wait for an event loop.
///
/// A write returns once its bytes are in the queue of an event loop. Only the event loop notices
/// that the client's socket is full, and makes later writes wait. If event loops are slow, a stream
/// writes for some time before that: up to 14 MB in a debug build on a busy machine, for a client
/// that read nothing. A release build showed no such growth.
struct WrittenBytes {
    /// The number of bytes that may wait for an event loop.
    static let limit = 1 << 18

    private var count = 0

    /// Adds bytes of a write that has returned. Beyond the limit, waits until the event loops have
    /// handled all earlier writes.
    mutating func add(_ bytes: Int) async {
        count += bytes
        if count < Self.limit { return }
        count = 0
        // The connections of ``SharedPort`` are on these event loops.
        let handled = MultiThreadedEventLoopGroup.singleton.makeIterator().map { $0.submit {} }
        for future in handled { try? await future.get() }
    }
}
