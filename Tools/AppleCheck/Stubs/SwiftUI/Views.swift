public import CoreGraphics
public import Foundation

/// https://developer.apple.com/documentation/swiftui/view
@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
    public var body: Never { fatalError("has no body") }
}

/// A view without a body, which passes its text to the host.
@MainActor protocol StubPrimitive: View where Body == Never {
    func stubDraw(_ host: StubHost, _ place: String)
}

extension StubPrimitive {
    public var body: Never { fatalError("has no body") }
}

/// https://developer.apple.com/documentation/swiftui/viewbuilder
@resultBuilder public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(
        _ content: repeat each Content
    ) -> TupleView<(repeat each Content)> {
        var views: [any View] = []
        repeat views.append(each content)
        return TupleView(stub: views)
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(
        first: First
    ) -> _ConditionalContent<First, Second> { _ConditionalContent(stub: first, "true") }
    public static func buildEither<First: View, Second: View>(
        second: Second
    ) -> _ConditionalContent<First, Second> { _ConditionalContent(stub: second, "false") }
}

/// https://developer.apple.com/documentation/swiftui/tupleview
public struct TupleView<Content>: StubPrimitive {
    // The views are made on any actor and drawn on the main actor.
    nonisolated(unsafe) private let views: [any View]
    nonisolated init(stub views: [any View]) { self.views = views }
    func stubDraw(_ host: StubHost, _ place: String) {
        for (index, view) in views.enumerated() { host.draw(view, "\(place).\(index)") }
    }
}

public struct _ConditionalContent<First: View, Second: View>: StubPrimitive {
    nonisolated(unsafe) private let shown: any View
    private let branch: String
    nonisolated init(stub shown: any View, _ branch: String) {
        self.shown = shown
        self.branch = branch
    }
    func stubDraw(_ host: StubHost, _ place: String) { host.draw(shown, "\(place).\(branch)") }
}

extension Optional: View where Wrapped: View {
    public var body: Never { fatalError("has no body") }
}

extension Optional: StubPrimitive where Wrapped: View {
    func stubDraw(_ host: StubHost, _ place: String) {
        if let self { host.draw(self, place + ".some") }
    }
}

/// https://developer.apple.com/documentation/swiftui/emptyview
public struct EmptyView: StubPrimitive {
    nonisolated public init() {}
    func stubDraw(_ host: StubHost, _ place: String) {}
}

/// https://developer.apple.com/documentation/swiftui/image
public struct Image: StubPrimitive {
    private let size: String

    /// https://developer.apple.com/documentation/swiftui/image/init(_:scale:label:)
    public init(_ cgImage: CGImage, scale: CGFloat, label: Text) {
        size = "image \(cgImage.width)×\(cgImage.height) \(label.stubText)"
    }

    /// https://developer.apple.com/documentation/swiftui/image/init(decorative:scale:)
    public init(decorative cgImage: CGImage, scale: CGFloat) {
        size = "image \(cgImage.width)×\(cgImage.height)"
    }

    /// https://developer.apple.com/documentation/swiftui/image/init(systemname:)
    nonisolated public init(systemName: String) { size = "symbol " + systemName }

    /// https://developer.apple.com/documentation/swiftui/image/resizable(capinsets:resizingmode:)
    public func resizable() -> Image { self }
    func stubDraw(_ host: StubHost, _ place: String) { host.drawn.append(size) }
}

/// https://developer.apple.com/documentation/swiftui/zstack
public struct ZStack<Content: View>: StubPrimitive {
    private let content: Content
    public init(alignment: Alignment = .center, @ViewBuilder content: () -> Content) {
        self.content = content()
    }
    func stubDraw(_ host: StubHost, _ place: String) { host.draw(content, place + ".z") }
}

/// https://developer.apple.com/documentation/swiftui/geometryproxy
public struct GeometryProxy {
    public let size: CGSize
}

/// https://developer.apple.com/documentation/swiftui/geometryreader
public struct GeometryReader<Content: View>: StubPrimitive {
    public var content: (GeometryProxy) -> Content
    public init(@ViewBuilder content: @escaping (GeometryProxy) -> Content) {
        self.content = content
    }
    func stubDraw(_ host: StubHost, _ place: String) {
        host.draw(host.following { content(GeometryProxy(size: host.size)) }, place + ".g")
    }
}

/// https://developer.apple.com/documentation/swiftui/contentmode
public enum ContentMode: Hashable, CaseIterable, Sendable { case fit, fill }

extension View {
    /// https://developer.apple.com/documentation/swiftui/view/frame(width:height:alignment:)
    public func frame(
        width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center
    ) -> some View { self }
    /// https://developer.apple.com/documentation/swiftui/view/aspectratio(_:contentmode:)
    public func aspectRatio(
        _ aspectRatio: CGFloat? = nil, contentMode: ContentMode
    ) -> some View { self }
    /// https://developer.apple.com/documentation/swiftui/view/clipped(antialiased:)
    public func clipped(antialiased: Bool = false) -> some View { self }

    /// Starts when the view appears and again when the id changes. It is cancelled when the view
    /// disappears.
    ///
    /// https://developer.apple.com/documentation/swiftui/view/task(id:priority:_:)
    public func task<ID: Equatable>(
        id value: ID, priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { StubTask(content: self, id: value, action: action) }

    /// https://developer.apple.com/documentation/swiftui/view/environment(_:_:)
    public func environment<Value>(
        _ keyPath: WritableKeyPath<EnvironmentValues, Value>, _ value: Value
    ) -> some View {
        StubEnvironment(content: self) { $0[keyPath: keyPath] = value }
    }
}

private struct StubTask<Content: View, ID: Equatable>: StubPrimitive {
    let content: Content
    let id: ID
    let action: @Sendable () async -> Void
    func stubDraw(_ host: StubHost, _ place: String) {
        host.draw(content, place + ".t")
        host.run(at: place, id: id, action)
    }
}

private struct StubEnvironment<Content: View>: StubPrimitive {
    let content: Content
    let change: (inout EnvironmentValues) -> Void
    func stubDraw(_ host: StubHost, _ place: String) {
        let outer = host.environment
        change(&host.environment)
        host.draw(content, place + ".e")
        host.environment = outer
    }
}
