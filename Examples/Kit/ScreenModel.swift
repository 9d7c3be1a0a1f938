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

extension Optional where Wrapped: Equatable {
    /// - Returns: Whether it was another one.
    public mutating func exchange(_ new: Wrapped) -> Bool {
        defer { self = new }
        return self != new
    }
}

/// The tasks of an app, which end with it.
public final class AppTasks: Sendable {
    private let tasks = Mutex<[Task<Void, Never>]>([])

    public init() {}

    public func add(_ task: Task<Void, Never>) { tasks.withLock { $0.append(task) } }

    /// Begins a task that does not keep its owner.
    public func begin<Owner: AnyObject & Sendable>(
        _ owner: Owner, _ body: @escaping @Sendable (Owner) async -> Void
    ) {
        add(
            Task { [weak owner] in
                guard let owner else { return }
                await body(owner)
            })
    }

    /// Passes on each element, until the sequence ends or fails or the owner is gone.
    public func watch<Owner: AnyObject & Sendable, Elements: AsyncSequence & Sendable>(
        _ elements: Elements, for owner: Owner,
        _ body: @escaping @Sendable (Owner, Elements.Element) -> Void
    ) {
        add(
            Task { [weak owner] in
                do {
                    for try await element in elements {
                        guard let owner else { return }
                        body(owner, element)
                    }
                } catch { return }
            })
    }

    public func cancel() { for task in tasks.withLock({ $0 }) { task.cancel() } }
}
