// SwiftUI has no such type: it shows a view in a test.
// https://developer.apple.com/documentation/swiftui describes the behaviour that it imitates.
public import Foundation
import Observation

/// A window with one view. It draws again when a value changes that the last drawing has read: a
/// state, or a property of an observable object.
///
/// A place is a path through the tree of views. The values of a place are removed when a drawing
/// does not reach the place.
@MainActor public final class StubHost {
    /// The number of animations.
    public static var animations = 0

    public var environment = EnvironmentValues()
    public var size = CGSize(width: 100, height: 100) { didSet { redraw() } }
    /// The drawn texts, from front to back.
    public internal(set) var drawn: [String] = []
    public private(set) var drawings = 0

    private var root: (any View)?
    private var storages: [String: AnyObject] = [:]
    private var tasks: [String: (id: Any, task: Task<Void, Never>)] = [:]
    private var visited: Set<String> = []
    private var isDue = false

    public init() {}

    /// Replaces the shown view; nil for no view.
    public func show(_ view: (any View)?) {
        root = view
        redraw()
    }

    /// Draws again after a value has changed. Call this before the change.
    nonisolated func stubWillChange() { Task { @MainActor in stubChanged() } }

    func stubChanged() {
        if isDue { return }
        isDue = true
        Task { @MainActor in
            isDue = false
            redraw()
        }
    }

    private func redraw() {
        drawings += 1
        drawn = []
        visited = []
        if let root { draw(root, "") }
        storages = storages.filter { visited.contains($0.key) }
        for (place, running) in tasks where !visited.contains(place) {
            running.task.cancel()
            tasks[place] = nil
        }
    }

    func draw<Content: View>(_ view: Content, _ place: String) {
        if let primitive = view as? any StubPrimitive { return primitive.stubDraw(self, place) }
        let place = "\(place)/\(Content.self)"
        for child in Mirror(reflecting: view).children { attach(child, place) }
        draw(following { view.body }, place)
    }

    /// Draws again when a value changes that `content` has read.
    func following<Content: View>(_ content: () -> Content) -> Content {
        withObservationTracking(content) { [weak self] in self?.stubWillChange() }
    }

    /// Attaches the parts of a property, then the property itself. The property's `update()`
    /// changes a copy, so an `update()` that changes the property's own values has no effect here.
    private func attach(_ child: Mirror.Child, _ place: String) {
        guard var property = child.value as? any DynamicProperty else { return }
        let place = "\(place).\(child.label ?? "")"
        if let attached = property as? any StubAttached {
            attached.stubAttach(self, place)
        } else {
            for child in Mirror(reflecting: property).children { attach(child, place) }
        }
        property.update()
    }

    func storage<Value>(_ place: String, _ seed: Value) -> StubStorage<Value> {
        visited.insert(place)
        if let storage = storages[place] as? StubStorage<Value> { return storage }
        let storage = StubStorage(seed, self)
        storages[place] = storage
        return storage
    }

    func run<ID: Equatable>(
        at place: String, id: ID, _ action: @escaping @Sendable () async -> Void
    ) {
        visited.insert(place)
        if let running = tasks[place] {
            if running.id as? ID == id { return }
            running.task.cancel()
        }
        tasks[place] = (id, Task { await action() })
    }
}
