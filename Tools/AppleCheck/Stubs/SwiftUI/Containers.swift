// https://developer.apple.com/documentation/swiftui. These views cannot be drawn. They exist
// because the views of the example apps use them, and those views are only type-checked.
public import Foundation

/// A view that tests cannot show. Drawing it ends the process.
protocol StubWithoutBody: View where Body == Never {}

extension StubWithoutBody {
    public var body: Never { fatalError("\(Self.self) is not drawn by this stub") }
}

struct StubUndrawn: StubWithoutBody {
    nonisolated init() {}
}

/// https://developer.apple.com/documentation/swiftui/vstack
public struct VStack<Content: View>: StubWithoutBody {
    nonisolated public init(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil,
        @ViewBuilder content: () -> Content
    ) {}
}

/// https://developer.apple.com/documentation/swiftui/hstack
public struct HStack<Content: View>: StubWithoutBody {
    nonisolated public init(
        alignment: VerticalAlignment = .center, spacing: CGFloat? = nil,
        @ViewBuilder content: () -> Content
    ) {}
}

/// https://developer.apple.com/documentation/swiftui/pinnedscrollableviews
public struct PinnedScrollableViews: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// https://developer.apple.com/documentation/swiftui/lazyvstack
public struct LazyVStack<Content: View>: StubWithoutBody {
    nonisolated public init(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil,
        pinnedViews: PinnedScrollableViews = .init(), @ViewBuilder content: () -> Content
    ) {}
}

/// https://developer.apple.com/documentation/swiftui/spacer
public struct Spacer: StubWithoutBody {
    nonisolated public init(minLength: CGFloat? = nil) {}
}

/// https://developer.apple.com/documentation/swiftui/group
public struct Group<Content> {}

extension Group: View, StubWithoutBody where Content: View {
    nonisolated public init(@ViewBuilder content: () -> Content) {}
}

/// https://developer.apple.com/documentation/swiftui/scrollview
public struct ScrollView<Content: View>: StubWithoutBody {
    nonisolated public init(
        _ axes: Axis.Set = .vertical, @ViewBuilder content: () -> Content
    ) {}
}

/// https://developer.apple.com/documentation/swiftui/foreach
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content> {}

extension ForEach: View, StubWithoutBody where Content: View {
    /// https://developer.apple.com/documentation/swiftui/foreach/init(_:content:)
    nonisolated public init(
        _ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content
    ) where ID == Data.Element.ID, Data.Element: Identifiable {}

    /// https://developer.apple.com/documentation/swiftui/foreach/init(_:id:content:)
    nonisolated public init(
        _ data: Data, id: KeyPath<Data.Element, ID>,
        @ViewBuilder content: @escaping (Data.Element) -> Content
    ) {}
}

/// https://developer.apple.com/documentation/swiftui/list
public struct List<SelectionValue: Hashable, Content: View>: StubWithoutBody {}

extension List where SelectionValue == Never {
    /// https://developer.apple.com/documentation/swiftui/list/init(content:)
    nonisolated public init(@ViewBuilder content: () -> Content) {}
}

/// https://developer.apple.com/documentation/swiftui/form
public struct Form<Content: View>: StubWithoutBody {
    nonisolated public init(@ViewBuilder content: () -> Content) {}
}

/// https://developer.apple.com/documentation/swiftui/section
public struct Section<Parent, Content, Footer> {}

extension Section: View, StubWithoutBody where Parent: View, Content: View, Footer: View {}

extension Section where Parent == EmptyView, Content: View, Footer == EmptyView {
    /// https://developer.apple.com/documentation/swiftui/section/init(content:)
    nonisolated public init(@ViewBuilder content: () -> Content) {}
}

extension Section where Parent == Text, Content: View, Footer == EmptyView {
    /// https://developer.apple.com/documentation/swiftui/section/init(_:content:)
    nonisolated public init(
        _ titleKey: LocalizedStringKey, @ViewBuilder content: () -> Content
    ) {}

    @_disfavoredOverload
    nonisolated public init<S: StringProtocol>(
        _ title: S, @ViewBuilder content: () -> Content
    ) {}
}

/// https://developer.apple.com/documentation/swiftui/navigationpath
public struct NavigationPath {}

/// https://developer.apple.com/documentation/swiftui/navigationstack
public struct NavigationStack<Data, Root: View>: StubWithoutBody {
    /// https://developer.apple.com/documentation/swiftui/navigationstack/init(root:)
    nonisolated public init(@ViewBuilder root: () -> Root) where Data == NavigationPath {}
}

/// https://developer.apple.com/documentation/swiftui/navigationlink
public struct NavigationLink<Label: View, Destination: View>: StubWithoutBody {
    /// https://developer.apple.com/documentation/swiftui/navigationlink/init(destination:label:)
    nonisolated public init(
        @ViewBuilder destination: () -> Destination, @ViewBuilder label: () -> Label
    ) {}
}

extension NavigationLink where Label == Text {
    /// https://developer.apple.com/documentation/swiftui/navigationlink/init(_:destination:)
    nonisolated public init(
        _ titleKey: LocalizedStringKey, @ViewBuilder destination: () -> Destination
    ) {}
}

extension NavigationLink where Destination == Never {
    /// https://developer.apple.com/documentation/swiftui/navigationlink/init(value:label:)
    nonisolated public init<P: Hashable>(value: P?, @ViewBuilder label: () -> Label) {}
    nonisolated public init<P: Hashable & Codable>(
        value: P?, @ViewBuilder label: () -> Label
    ) {}
}
