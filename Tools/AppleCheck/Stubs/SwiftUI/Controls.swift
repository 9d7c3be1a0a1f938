// https://developer.apple.com/documentation/swiftui. None of these is drawn: see Containers.swift.

/// https://developer.apple.com/documentation/swiftui/button
public struct Button<Label: View>: StubWithoutBody {}

extension Button where Label == Text {
    /// https://developer.apple.com/documentation/swiftui/button/init(_:action:)
    @preconcurrency nonisolated public init(
        _ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void
    ) {}

    @_disfavoredOverload
    @preconcurrency nonisolated public init<S: StringProtocol>(
        _ title: S, action: @escaping @MainActor () -> Void
    ) {}
}

extension Button where Label == Text {
    /// https://developer.apple.com/documentation/swiftui/button/init(_:role:action:)
    @preconcurrency nonisolated public init(
        _ titleKey: LocalizedStringKey, role: ButtonRole?, action: @escaping @MainActor () -> Void
    ) {}
}

/// https://developer.apple.com/documentation/swiftui/buttonrole
public struct ButtonRole: Equatable, Sendable {
    public static let destructive = ButtonRole()
}

/// https://developer.apple.com/documentation/swiftui/textfield
public struct TextField<Label: View>: StubWithoutBody {}

extension TextField where Label == Text {
    /// https://developer.apple.com/documentation/swiftui/textfield/init(_:text:)
    nonisolated public init(_ titleKey: LocalizedStringKey, text: Binding<String>) {}

    /// https://developer.apple.com/documentation/swiftui/textfield/init(_:text:prompt:)
    @_disfavoredOverload
    nonisolated public init<S: StringProtocol>(
        _ title: S, text: Binding<String>, prompt: Text?
    ) {}
}

/// https://developer.apple.com/documentation/swiftui/securefield
public struct SecureField<Label: View>: StubWithoutBody {}

extension SecureField where Label == Text {
    /// https://developer.apple.com/documentation/swiftui/securefield/init(_:text:)
    nonisolated public init(_ titleKey: LocalizedStringKey, text: Binding<String>) {}
}

/// https://developer.apple.com/documentation/swiftui/label
public struct Label<Title: View, Icon: View>: StubWithoutBody {
    /// https://developer.apple.com/documentation/swiftui/label/init(title:icon:)
    nonisolated public init(
        @ViewBuilder title: () -> Title, @ViewBuilder icon: () -> Icon
    ) {}
}

extension Label where Title == Text, Icon == Image {
    /// https://developer.apple.com/documentation/swiftui/label/init(_:systemimage:)
    nonisolated public init(_ titleKey: LocalizedStringKey, systemImage name: String) {}

    @_disfavoredOverload
    nonisolated public init<S: StringProtocol>(_ title: S, systemImage name: String) {}
}

/// https://developer.apple.com/documentation/swiftui/labeledcontent
public struct LabeledContent<Label, Content> {}

extension LabeledContent: View, StubWithoutBody where Label: View, Content: View {}

extension LabeledContent where Label == Text, Content: View {
    /// https://developer.apple.com/documentation/swiftui/labeledcontent/init(_:content:)
    nonisolated public init(
        _ titleKey: LocalizedStringKey, @ViewBuilder content: () -> Content
    ) {}

    @_disfavoredOverload
    nonisolated public init<S: StringProtocol>(
        _ title: S, @ViewBuilder content: () -> Content
    ) {}
}

extension LabeledContent where Label == Text, Content == Text {
    /// https://developer.apple.com/documentation/swiftui/labeledcontent/init(_:value:)
    @_disfavoredOverload
    nonisolated public init<S1: StringProtocol, S2: StringProtocol>(_ title: S1, value: S2) {}
}

/// https://developer.apple.com/documentation/swiftui/progressview
public struct ProgressView<Label: View, CurrentValueLabel: View>: StubWithoutBody {}

extension ProgressView where CurrentValueLabel == EmptyView {
    /// https://developer.apple.com/documentation/swiftui/progressview/init()
    nonisolated public init() where Label == EmptyView {}

    /// https://developer.apple.com/documentation/swiftui/progressview/init(value:total:label:)
    nonisolated public init<V: BinaryFloatingPoint>(
        value: V?, total: V = 1.0, @ViewBuilder label: () -> Label
    ) {}
}

/// https://developer.apple.com/documentation/swiftui/contentunavailableview
public struct ContentUnavailableView<Label: View, Description: View, Actions: View>:
    StubWithoutBody
{
    /// https://developer.apple.com/documentation/swiftui/contentunavailableview/
    /// init(label:description:actions:)
    nonisolated public init(
        @ViewBuilder label: () -> Label,
        @ViewBuilder description: () -> Description = { EmptyView() },
        @ViewBuilder actions: () -> Actions = { EmptyView() }
    ) {}
}

extension ContentUnavailableView
where Label == SwiftUI.Label<Text, Image>, Description == Text?, Actions == EmptyView {
    /// https://developer.apple.com/documentation/swiftui/contentunavailableview/
    /// init(_:systemimage:description:)
    nonisolated public init(
        _ title: LocalizedStringKey, systemImage name: String, description: Text? = nil
    ) {}

    @_disfavoredOverload
    nonisolated public init<S: StringProtocol>(
        _ title: S, systemImage name: String, description: Text? = nil
    ) {}
}
