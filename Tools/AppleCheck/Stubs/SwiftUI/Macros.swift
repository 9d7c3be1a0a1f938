// https://developer.apple.com/documentation/swiftui. `Tools/AppleCheck/Macros` expands these
// macros.

/// https://developer.apple.com/documentation/swiftui/entry()
@attached(accessor) @attached(peer, names: prefixed(__Key_))
public macro Entry() = #externalMacro(module: "SwiftUIMacros", type: "EntryMacro")

/// https://developer.apple.com/documentation/swiftui/preview(_:body:)
@freestanding(declaration)
public macro Preview(
    _ name: String? = nil, @ViewBuilder body: @escaping @MainActor () -> any View
) = #externalMacro(module: "SwiftUIMacros", type: "SwiftUIView")
