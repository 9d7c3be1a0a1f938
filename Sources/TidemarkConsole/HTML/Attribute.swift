import Foundation

/// An attribute of an element. Addresses are ``PagePath``s, which cannot lead outside the console.
package struct Attribute: Hashable, Sendable {
    private let name: String
    /// The value; nil for an attribute without a value.
    private let value: String?

    private init(_ name: String, _ value: String?) {
        self.name = name
        self.value = value
    }

    package func render(into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: name.utf8)
        guard let value else { return }
        bytes.append(contentsOf: "=\"".utf8)
        HTML.escape(value, into: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    package static func `class`(_ names: String) -> Attribute { Attribute("class", names) }
    package static func id(_ id: String) -> Attribute { Attribute("id", id) }
    package static func `for`(_ id: String) -> Attribute { Attribute("for", id) }
    package static func src(_ path: PagePath) -> Attribute { Attribute("src", path.text) }
    /// The address of a picture that is part of the page.
    package static func jpeg(_ file: [UInt8]) -> Attribute {
        Attribute("src", "data:image/jpeg;base64," + Data(file).base64EncodedString())
    }
    package static func alt(_ text: String) -> Attribute { Attribute("alt", text) }
    package static func href(_ path: PagePath) -> Attribute { Attribute("href", path.text) }
    package static func action(_ path: PagePath) -> Attribute { Attribute("action", path.text) }
    package static func name(_ name: String) -> Attribute { Attribute("name", name) }
    package static func value(_ value: String) -> Attribute { Attribute("value", value) }
    package static func placeholder(_ text: String) -> Attribute { Attribute("placeholder", text) }
    package static func title(_ text: String) -> Attribute { Attribute("title", text) }
    package static func datetime(_ text: String) -> Attribute { Attribute("datetime", text) }
    package static func label(_ text: String) -> Attribute { Attribute("aria-label", text) }
    package static func role(_ role: String) -> Attribute { Attribute("role", role) }
    package static func scope(_ scope: String) -> Attribute { Attribute("scope", scope) }
    package static func rows(_ count: Int) -> Attribute { Attribute("rows", "\(count)") }
    package static func type(_ type: InputType) -> Attribute { Attribute("type", type.rawValue) }
    /// An attribute for the modules in `Assets`, which names a part of the page or its data.
    package static func data(_ name: DataName, _ value: String) -> Attribute {
        Attribute("data-" + name.rawValue, value)
    }
    /// An attribute for a length or a frame of a drawing.
    package static func drawing(_ name: DrawingName, _ value: String) -> Attribute {
        Attribute(name.rawValue, value)
    }
    package static let post = Attribute("method", "post")
    package static let current = Attribute("aria-current", "page")
    package static let live = Attribute("aria-live", "polite")
    package static let selected = Attribute("selected", nil)
    /// The keys with the effect of the element, for assistive technology and for the page's script.
    package static func keys(_ keys: String) -> Attribute { Attribute("aria-keyshortcuts", keys) }
    package static func pressed(_ isPressed: Bool) -> Attribute {
        Attribute("aria-pressed", isPressed ? "true" : "false")
    }
    package static func max(_ value: Double) -> Attribute { Attribute("max", "\(value)") }
    /// Returns the position in a drawing, in the units of its view box.
    package static func place(
        x: Double, y: Double, width: Double, height: Double
    ) -> [Attribute] {
        [
            Attribute("x", "\(x)"), Attribute("y", "\(y)"), Attribute("width", "\(width)"),
            Attribute("height", "\(height)"),
        ]
    }
    package static func viewBox(width: Double, height: Double) -> Attribute {
        Attribute("viewBox", "0 0 \(width) \(height)")
    }
    /// Stretches a drawing to its element.
    package static let stretched = Attribute("preserveAspectRatio", "none")
    package static let disabled = Attribute("disabled", nil)
    package static let noCompletion = Attribute("autocomplete", "off")
    package static let hidden = Attribute("hidden", nil)
    package static let autofocus = Attribute("autofocus", nil)
    package static let noSpelling = Attribute("spellcheck", "false")
    package static let ownDirection = Attribute("dir", "auto")
    package static let focusable = Attribute("tabindex", "0")

    package enum InputType: String {
        case text, number, hidden, submit, button, search, range, password
    }
    package enum DrawingName: String { case x, y, width, height, viewBox }
    package enum DataName: String {
        case part, source, first, update, path, key, order, database
    }
}

/// An address in the console: percent-encoded segments, and a query.
package struct PagePath: Hashable, Sendable {
    package let segments: [String]
    package var query: [(name: String, value: String)]

    package init(_ segments: [String], _ query: [(name: String, value: String)] = []) {
        self.segments = segments
        self.query = query
    }

    package var text: String {
        let path = "/" + segments.map(Self.encode).joined(separator: "/")
        guard !query.isEmpty else { return path }
        let pairs = query.map { Self.encode($0.name) + "=" + Self.encode($0.value) }
        return path + "?" + pairs.joined(separator: "&")
    }

    package func with(_ name: String, _ value: String?) -> PagePath {
        let others = query.filter { $0.name != name }
        return PagePath(segments, others + (value.map { [(name, $0)] } ?? []))
    }

    package static func == (left: PagePath, right: PagePath) -> Bool { left.text == right.text }
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Encodes everything except RFC 3986's unreserved characters.
    package static func encode(_ text: String) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                result.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
