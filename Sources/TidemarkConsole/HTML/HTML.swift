/// A piece of a page: text, or elements with their contents.
///
/// The type cannot contain unescaped text, a script, a style or an address of another scheme, so
/// the contents of a document can only be displayed.
package struct HTML: Hashable, Sendable {
    package private(set) var nodes: [Node] = []

    package enum Node: Hashable, Sendable {
        case text(String)
        case element(Tag, [Attribute], HTML)
    }

    package init() {}
    package init(_ text: String) { nodes = [.text(text)] }
    package init(_ node: Node) { nodes = [node] }
    package init(_ parts: [HTML]) { nodes = parts.flatMap(\.nodes) }

    /// Appends the bytes of this piece, in UTF-8.
    package func render(into bytes: inout [UInt8]) {
        for node in nodes {
            switch node {
            case .text(let text): Self.escape(text, into: &bytes)
            case .element(let tag, let attributes, let content):
                bytes.append(UInt8(ascii: "<"))
                bytes.append(contentsOf: tag.rawValue.utf8)
                for attribute in attributes { attribute.render(into: &bytes) }
                bytes.append(UInt8(ascii: ">"))
                if tag.isVoid { continue }
                content.render(into: &bytes)
                bytes.append(contentsOf: "</\(tag.rawValue)>".utf8)
            }
        }
    }

    package var rendered: String {
        var bytes: [UInt8] = []
        render(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Escapes a text, for text and for quoted attributes. A NUL, which HTML cannot contain,
    /// becomes U+FFFD.
    package static func escape(_ text: String, into bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes.append(contentsOf: "&amp;".utf8)
            case UInt8(ascii: "<"): bytes.append(contentsOf: "&lt;".utf8)
            case UInt8(ascii: ">"): bytes.append(contentsOf: "&gt;".utf8)
            case UInt8(ascii: "\""): bytes.append(contentsOf: "&quot;".utf8)
            case UInt8(ascii: "'"): bytes.append(contentsOf: "&#39;".utf8)
            case 0: bytes.append(contentsOf: "\u{FFFD}".utf8)
            default: bytes.append(byte)
            }
        }
    }
}

/// The elements of pages. A browser executes the text of none of them.
package enum Tag: String, Hashable, Sendable {
    case a, abbr, bdi, button, caption, code, dd, details, div, dl, dt, fieldset, footer, form
    case h1, h2, h3, header, input, label, legend, li, main, nav, ol, option, output, p, pre
    case section, select, small, span, strong, summary, table, tbody, td, textarea, th, thead
    case img, time, tr, ul
    case article, aside, br, figcaption, figure, g, kbd, progress, rect, svg, title

    package var isVoid: Bool { self == .input || self == .br || self == .img }

    package func callAsFunction(
        _ attributes: Attribute..., @HTMLBuilder content: () -> HTML = { HTML() }
    ) -> HTML {
        HTML(.element(self, attributes, content()))
    }

    package func with(
        _ attributes: [Attribute], @HTMLBuilder content: () -> HTML = { HTML() }
    ) -> HTML {
        HTML(.element(self, attributes, content()))
    }
}

/// Joins the parts of a page, and escapes the texts among them.
@resultBuilder package enum HTMLBuilder {
    package static func buildExpression(_ html: HTML) -> HTML { html }
    package static func buildExpression(_ text: String) -> HTML { HTML(text) }
    package static func buildBlock(_ parts: HTML...) -> HTML { HTML(parts) }
    package static func buildOptional(_ part: HTML?) -> HTML { part ?? HTML() }
    package static func buildEither(first: HTML) -> HTML { first }
    package static func buildEither(second: HTML) -> HTML { second }
    package static func buildArray(_ parts: [HTML]) -> HTML { HTML(parts) }
}
