public import Foundation
import Synchronization

/// An app's model and its screen. Each change of the model shows a new screen.
public final class ScreenModel<Model: Sendable>: Sendable {
    private let model: Mutex<Model>
    private let publisher: ScreenPublisher
    private let draw: @Sendable (Model) -> Screen

    /// - Parameters:
    ///   - now: Returns the time of day, from which ages are counted.
    ///   - screen: Makes the screen of a model at a time.
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
        // The screen is shown inside the lock, because the later of two changes must be shown last.
        model.withLock { model in
            body(&model)
            publisher.show(draw(model))
        }
    }

    public func finish() { publisher.finish() }
}
