/// An attribute of an element. Addresses are ``PagePath``s: they cannot lead away from the console.
struct Attribute: Hashable, Sendable {
    private let name: String
    /// Nil for an attribute that only is there.
    private let value: String?

    private init(_ name: String, _ value: String?) {
        self.name = name
        self.value = value
    }

    func render(into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: name.utf8)
        guard let value else { return }
        bytes.append(contentsOf: "=\"".utf8)
        HTML.escape(value, into: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    static func `class`(_ names: String) -> Attribute { Attribute("class", names) }
    static func id(_ id: String) -> Attribute { Attribute("id", id) }
    static func `for`(_ id: String) -> Attribute { Attribute("for", id) }
    static func href(_ path: PagePath) -> Attribute { Attribute("href", path.text) }
    static func action(_ path: PagePath) -> Attribute { Attribute("action", path.text) }
    static func name(_ name: String) -> Attribute { Attribute("name", name) }
    static func value(_ value: String) -> Attribute { Attribute("value", value) }
    static func placeholder(_ text: String) -> Attribute { Attribute("placeholder", text) }
    static func title(_ text: String) -> Attribute { Attribute("title", text) }
    static func datetime(_ text: String) -> Attribute { Attribute("datetime", text) }
    static func label(_ text: String) -> Attribute { Attribute("aria-label", text) }
    static func role(_ role: String) -> Attribute { Attribute("role", role) }
    static func scope(_ scope: String) -> Attribute { Attribute("scope", scope) }
    static func rows(_ count: Int) -> Attribute { Attribute("rows", "\(count)") }
    static func type(_ type: InputType) -> Attribute { Attribute("type", type.rawValue) }
    /// For the modules in `Assets`: which part of the page this is, or what belongs to it.
    static func data(_ name: DataName, _ value: String) -> Attribute {
        Attribute("data-" + name.rawValue, value)
    }
    /// A length or a frame of a drawing.
    static func drawing(_ name: DrawingName, _ value: String) -> Attribute {
        Attribute(name.rawValue, value)
    }
    static let post = Attribute("method", "post")
    static let current = Attribute("aria-current", "page")
    static let live = Attribute("aria-live", "polite")
    static let selected = Attribute("selected", nil)
    static let hidden = Attribute("hidden", nil)
    static let autofocus = Attribute("autofocus", nil)
    static let noSpelling = Attribute("spellcheck", "false")
    static let ownDirection = Attribute("dir", "auto")
    static let focusable = Attribute("tabindex", "0")

    enum InputType: String {
        case text, number, hidden, submit, button, search, range, password
    }
    enum DrawingName: String { case x, y, width, height, viewBox }
    enum DataName: String { case part, source, update, path, key }
}

/// An address within the console: segments that are percent-encoded, and a query.
struct PagePath: Hashable, Sendable {
    let segments: [String]
    var query: [(name: String, value: String)]

    init(_ segments: [String], _ query: [(name: String, value: String)] = []) {
        self.segments = segments
        self.query = query
    }

    var text: String {
        let path = "/" + segments.map(Self.encode).joined(separator: "/")
        guard !query.isEmpty else { return path }
        let pairs = query.map { Self.encode($0.name) + "=" + Self.encode($0.value) }
        return path + "?" + pairs.joined(separator: "&")
    }

    func with(_ name: String, _ value: String?) -> PagePath {
        let others = query.filter { $0.name != name }
        return PagePath(segments, others + (value.map { [(name, $0)] } ?? []))
    }

    static func == (left: PagePath, right: PagePath) -> Bool { left.text == right.text }
    func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Everything but RFC 3986's unreserved characters is encoded.
    static func encode(_ text: String) -> String {
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
