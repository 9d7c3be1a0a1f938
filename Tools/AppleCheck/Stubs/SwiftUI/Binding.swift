// https://developer.apple.com/documentation/swiftui

/// https://developer.apple.com/documentation/swiftui/binding
@propertyWrapper public struct Binding<Value> {
    private let get: () -> Value
    private let set: (Value) -> Void

    init(stub get: @escaping () -> Value, _ set: @escaping (Value) -> Void) {
        (self.get, self.set) = (get, set)
    }

    public var wrappedValue: Value {
        get { get() }
        nonmutating set { set(newValue) }
    }
    public var projectedValue: Binding<Value> { self }
}

// @unchecked: for the same reason as `State`.
extension Binding: @unchecked Sendable where Value: Sendable {}
