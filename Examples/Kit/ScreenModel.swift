public import Foundation
import Synchronization

/// The model of an app's screen and the screen that it makes: each change shows it anew.
public final class ScreenModel<Model: Sendable>: Sendable {
    private let model: Mutex<Model>
    private let publisher: ScreenPublisher
    private let draw: @Sendable (Model) -> Screen

    /// - Parameters:
    ///   - now: The time of day, by which ages are shown.
    ///   - screen: What a model shows at a time.
    public init(
        _ model: Model, now: @escaping @Sendable () -> Date,
        screen: @escaping @Sendable (Model, Date) -> Screen
    ) {
        let draw: @Sendable (Model) -> Screen = { screen($0, now()) }
        self.draw = draw
        self.model = Mutex(model)
        publisher = ScreenPublisher(draw(model))
    }

    public var screens: AsyncStream<Screen> { publisher.screens }
    public var value: Model { model.withLock { $0 } }

    public func change(_ body: (inout Model) -> Void) {
        // Within the lock, so that of two changes the later one is shown last.
        model.withLock { model in
            body(&model)
            publisher.show(draw(model))
        }
    }

    public func finish() { publisher.finish() }
}
