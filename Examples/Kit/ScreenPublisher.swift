import Observation
import Synchronization

/// Keeps the newest screen for its reader. A screen that is as the last one is not told again.
public final class ScreenPublisher: Sendable {
    public let screens: AsyncStream<Screen>
    private let input: AsyncStream<Screen>.Continuation
    private let last: Mutex<Screen?>

    /// - Parameter first: Shown at once.
    public init(_ first: Screen? = nil) {
        (screens, input) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        last = Mutex(first)
        if let first { input.yield(first) }
    }

    /// The screen that is shown; nil before the first.
    public var screen: Screen? { last.withLock { $0 } }

    public func show(_ screen: Screen) {
        last.withLock { last in
            if last == screen { return }
            last = screen
            input.yield(screen)
        }
    }

    public func finish() { input.finish() }

    /// Shows a screen, and again whenever something changes that it was made of.
    ///
    /// - Parameter screen: Reads observable objects. Nil ends it.
    @MainActor public func follow(_ screen: @escaping @MainActor () -> Screen?) {
        let next = withObservationTracking {
            screen()
        } onChange: { [weak self] in
            Task { @MainActor in self?.follow(screen) }
        }
        if let next { show(next) }
    }
}
