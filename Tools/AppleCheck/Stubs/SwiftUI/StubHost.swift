// No declaration of SwiftUI's: what shows a view in a test.
// https://developer.apple.com/documentation/swiftui says what it plays.
public import Foundation
import Observation

/// A window with one view. Draws again when what the last drawing looked at has changed: a state, or a
/// property of an observable object.
///
/// A place is a way through the tree of views. What a place keeps ends when no drawing comes by it.
@MainActor public final class StubHost {
    /// How often something was animated.
    public static var animations = 0

    public var environment = EnvironmentValues()
    public var size = CGSize(width: 100, height: 100) { didSet { redraw() } }
    /// What is on the screen, from front to back.
    public internal(set) var drawn: [String] = []
    public private(set) var drawings = 0

    private var root: (any View)?
    private var storages: [String: AnyObject] = [:]
    private var tasks: [String: (id: Any, task: Task<Void, Never>)] = [:]
    private var visited: Set<String> = []
    private var isDue = false

    public init() {}

    /// Shows a view in the place of the last one; nil for none.
    public func show(_ view: (any View)?) {
        root = view
        redraw()
    }

    /// What was looked at will change: draws when it has.
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

    /// Draws again when what is looked at changes.
    func following<Content: View>(_ content: () -> Content) -> Content {
        withObservationTracking(content) { [weak self] in self?.stubWillChange() }
    }

    /// What a property is made of first, then the property itself. Its own `update()` changes a copy:
    /// one that changes more than what it refers to is not played.
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
        _ place: String, _ id: ID, _ action: @escaping @Sendable () async -> Void
    ) {
        visited.insert(place)
        if let running = tasks[place] {
            if running.id as? ID == id { return }
            running.task.cancel()
        }
        tasks[place] = (id, Task { await action() })
    }
}
