// https://developer.apple.com/documentation/swiftui/text
public import Foundation

/// https://developer.apple.com/documentation/swiftui/localizedstringkey
public struct LocalizedStringKey: Equatable, ExpressibleByStringInterpolation {
    let stubText: String

    public init(_ value: String) { stubText = value }
    public init(stringLiteral value: String) { stubText = value }
    public init(stringInterpolation: StringInterpolation) { stubText = stringInterpolation.text }

    /// https://developer.apple.com/documentation/swiftui/localizedstringkey/stringinterpolation
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        public init(literalCapacity: Int, interpolationCount: Int) {}
        public mutating func appendLiteral(_ literal: String) { text += literal }
        public mutating func appendInterpolation(_ string: String) { text += string }
    }
}

/// https://developer.apple.com/documentation/swiftui/text
public struct Text: StubPrimitive, Equatable {
    let stubText: String

    /// https://developer.apple.com/documentation/swiftui/text/init(_:)-9d1g4
    @_disfavoredOverload
    nonisolated public init<S: StringProtocol>(_ content: S) { stubText = String(content) }

    /// https://developer.apple.com/documentation/swiftui/text/init(_:tablename:bundle:comment:)
    nonisolated public init(
        _ key: LocalizedStringKey, tableName: String? = nil, bundle: Bundle? = nil,
        comment: StaticString? = nil
    ) { stubText = key.stubText }

    /// https://developer.apple.com/documentation/swiftui/text/init(_:format:)
    nonisolated public init<F: FormatStyle>(_ input: F.FormatInput, format: F)
    where F.FormatInput: Equatable, F.FormatOutput == String { stubText = format.format(input) }

    /// https://developer.apple.com/documentation/swiftui/text/font(_:)
    nonisolated public func font(_ font: Font?) -> Text { self }
    /// https://developer.apple.com/documentation/swiftui/text/foregroundstyle(_:)
    nonisolated public func foregroundStyle<S: ShapeStyle>(_ style: S) -> Text { self }

    func stubDraw(_ host: StubHost, _ place: String) { host.drawn.append(stubText) }
}

/// https://developer.apple.com/documentation/swiftui/font
public struct Font: Hashable, Sendable {
    public static let headline = Font()
    public static let caption = Font()
}
