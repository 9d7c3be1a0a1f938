import Observation
import Synchronization

/// Passes the newest screen to its reader. Ignores a screen that equals the previous one.
public final class ScreenPublisher: Sendable {
    public let screens: AsyncStream<Screen>
    private let input: AsyncStream<Screen>.Continuation
    private let last: Mutex<Screen?>

    /// - Parameter first: The screen to show immediately; nil for none.
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

    /// Shows a screen, and again whenever an object changes from which the screen was made.
    ///
    /// - Parameter screen: Makes the screen from observable objects. Nil ends the observation.
    @MainActor public func follow(_ screen: @escaping @MainActor () -> Screen?) {
        let next = withObservationTracking {
            screen()
        } onChange: { [weak self] in
            Task { @MainActor in self?.follow(screen) }
        }
        if let next { show(next) }
    }
}
