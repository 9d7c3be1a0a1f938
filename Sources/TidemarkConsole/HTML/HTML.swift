/// A piece of a page: text, or elements with their contents.
///
/// There is no way to put in text that is not escaped, nor a script, a style or an address of another
/// scheme: what a document holds can only ever be shown.
struct HTML: Hashable, Sendable {
    private(set) var nodes: [Node] = []

    enum Node: Hashable, Sendable {
        case text(String)
        case element(Tag, [Attribute], HTML)
    }

    init() {}
    init(_ text: String) { nodes = [.text(text)] }
    init(_ node: Node) { nodes = [node] }
    init(_ parts: [HTML]) { nodes = parts.flatMap(\.nodes) }

    /// The bytes of this piece, UTF-8.
    func render(into bytes: inout [UInt8]) {
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

    var rendered: String {
        var bytes: [UInt8] = []
        render(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Escapes for text and for quoted attributes alike. A NUL, which HTML cannot hold, becomes U+FFFD.
    static func escape(_ text: String, into bytes: inout [UInt8]) {
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

/// The elements that pages use. There is none whose text a browser would run.
enum Tag: String, Hashable, Sendable {
    case a, abbr, bdi, button, caption, code, dd, details, div, dl, dt, fieldset, footer, form
    case h1, h2, h3, header, input, label, legend, li, main, nav, ol, option, output, p, pre
    case section, select, small, span, strong, summary, table, tbody, td, textarea, th, thead
    case time, tr, ul
    /// A drawing and its caption.
    case figure, figcaption, svg, rect

    var isVoid: Bool { self == .input }

    func callAsFunction(
        _ attributes: Attribute..., @HTMLBuilder content: () -> HTML = { HTML() }
    ) -> HTML {
        HTML(.element(self, attributes, content()))
    }
}

/// Joins the parts of a page; text among them is escaped.
@resultBuilder enum HTMLBuilder {
    static func buildExpression(_ html: HTML) -> HTML { html }
    static func buildExpression(_ text: String) -> HTML { HTML(text) }
    static func buildBlock(_ parts: HTML...) -> HTML { HTML(parts) }
    static func buildOptional(_ part: HTML?) -> HTML { part ?? HTML() }
    static func buildEither(first: HTML) -> HTML { first }
    static func buildEither(second: HTML) -> HTML { second }
    static func buildArray(_ parts: [HTML]) -> HTML { HTML(parts) }
}
