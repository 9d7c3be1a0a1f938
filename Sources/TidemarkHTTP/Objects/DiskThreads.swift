import NIOPosix
import TidemarkObjects

/// The threads on which files are written, read and synced, so that no event loop waits for a disk.
final class DiskThreads: Sendable {
    /// A disk gains nothing from more calls at a time.
    private static let threads = 4

    private let pool = NIOThreadPool(numberOfThreads: DiskThreads.threads)

    init() { pool.start() }

    deinit { pool.shutdownGracefully { _ in } }

    /// Runs `body` on one of the threads. A connection has one call at a time, which limits the
    /// queue of calls to the number of connections.
    func run<T: Sendable>(
        _ body: @escaping @Sendable () throws -> T
    ) async throws(ObjectRefusal) -> T {
        let result: Result<T, ObjectRefusal> = await withCheckedContinuation { done in
            pool.submit { state in
                guard case .active = state else {
                    done.resume(returning: .failure(.unavailable("The server is stopping.")))
                    return
                }
                do { done.resume(returning: .success(try body())) } catch {
                    let refusal = error as? ObjectRefusal ?? .unavailable("\(error)")
                    done.resume(returning: .failure(refusal))
                }
            }
        }
        return try result.get()
    }
}
