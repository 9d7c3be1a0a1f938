// https://developer.apple.com/documentation/swiftui
public import Foundation

/// https://developer.apple.com/documentation/swiftui/dynamicproperty
public protocol DynamicProperty {
    /// https://developer.apple.com/documentation/swiftui/dynamicproperty/update()
    mutating func update()
}

extension DynamicProperty {
    public mutating func update() {}
}

/// A property that the host connects with a place in its tree of views, before it requests a body.
protocol StubAttached {
    @MainActor func stubAttach(_ host: StubHost, _ place: String)
}

/// The value of a state at one place of the tree.
final class StubStorage<Value> {
    var value: Value
    let host: StubHost
    init(_ value: Value, _ host: StubHost) { (self.value, self.host) = (value, host) }
}

final class StubLink<Target> { var target: Target? }

/// Keeps the first value of a place. The initial values of later views at that place are ignored.
///
/// https://developer.apple.com/documentation/swiftui/state
@propertyWrapper public struct State<Value>: DynamicProperty, StubAttached {
    private let seed: Value
    private let link = StubLink<StubStorage<Value>>()

    public init(wrappedValue value: Value) { seed = value }
    public init(initialValue value: Value) { seed = value }

    /// The value. Without a place, it is the initial value, and setting it has no effect.
    public var wrappedValue: Value {
        get { link.target?.value ?? seed }
        nonmutating set {
            guard let storage = link.target else { return }
            storage.value = newValue
            storage.host.stubWillChange()
        }
    }

    /// https://developer.apple.com/documentation/swiftui/state/projectedvalue
    public var projectedValue: Binding<Value> {
        Binding(stub: { wrappedValue }, { wrappedValue = $0 })
    }

    func stubAttach(_ host: StubHost, _ place: String) {
        link.target = host.storage(place, seed)
    }
}

extension State where Value: ExpressibleByNilLiteral {
    public init() { self.init(wrappedValue: nil) }
}

// @unchecked: only the main actor uses the storage, as in SwiftUI.
extension State: @unchecked Sendable where Value: Sendable {}

/// https://developer.apple.com/documentation/swiftui/scenephase
public enum ScenePhase: Comparable, Hashable, Sendable { case background, inactive, active }

/// https://developer.apple.com/documentation/swiftui/environmentkey
public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}

/// https://developer.apple.com/documentation/swiftui/environmentvalues
public struct EnvironmentValues {
    private var values: [ObjectIdentifier: Any] = [:]

    public init() {}

    public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
        get { values[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }

    private enum Scale: EnvironmentKey { static var defaultValue: CGFloat { 1 } }

    private enum Phase: EnvironmentKey { static var defaultValue: ScenePhase { .active } }

    /// https://developer.apple.com/documentation/swiftui/environmentvalues/scenephase
    public var scenePhase: ScenePhase {
        get { self[Phase.self] }
        set { self[Phase.self] = newValue }
    }

    /// https://developer.apple.com/documentation/swiftui/environmentvalues/displayscale
    public var displayScale: CGFloat {
        get { self[Scale.self] }
        set { self[Scale.self] = newValue }
    }
}

/// https://developer.apple.com/documentation/swiftui/environment
@propertyWrapper public struct Environment<Value>: DynamicProperty, StubAttached {
    private let path: KeyPath<EnvironmentValues, Value>
    private let link = StubLink<EnvironmentValues>()

    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { path = keyPath }

    public var wrappedValue: Value { (link.target ?? EnvironmentValues())[keyPath: path] }

    func stubAttach(_ host: StubHost, _ place: String) { link.target = host.environment }
}

// @unchecked: only the host sets the values, on the main actor.
extension Environment: @unchecked Sendable where Value: Sendable {}

/// https://developer.apple.com/documentation/swiftui/animation
public struct Animation: Equatable, Sendable {
    public static let `default` = Animation()
}

/// https://developer.apple.com/documentation/swiftui/withanimation(_:_:)
@MainActor public func withAnimation<Result>(
    _ animation: Animation? = .default, _ body: () throws -> Result
) rethrows -> Result {
    StubHost.animations += 1
    return try body()
}
