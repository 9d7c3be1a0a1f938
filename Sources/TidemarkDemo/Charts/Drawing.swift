import Foundation

/// An SVG drawing of lines, boxes and texts, in colours for a light and a dark page.
struct Drawing {
    /// The colours, by class: `before` and `after` are the two sides everywhere.
    private static let style = """
        text { font-family: system-ui, sans-serif; font-size: 13px; fill: #1f2328 }
        .title { font-size: 15px; font-weight: 600 } .quiet { fill: #59636e; font-size: 12px }
        .page { fill: #ffffff } .grid { stroke: #d8dee4; stroke-width: 1 }
        .before { fill: #b54708 } .after { fill: #0969da }
        .before-line { stroke: #b54708 } .after-line { stroke: #0969da }
        .never { fill-opacity: 0.35 } .line { fill: none; stroke-width: 2 }
        @media (prefers-color-scheme: dark) {
        text { fill: #f0f6fc } .quiet { fill: #9198a1 } .page { fill: #0d1117 } .grid { stroke: #3d444d }
        .before { fill: #f0883e } .after { fill: #4493f8 }
        .before-line { stroke: #f0883e } .after-line { stroke: #4493f8 }
        }
        """

    enum Anchor: String { case start, middle, end }

    let width: Double
    let height: Double
    private var parts: [String] = []

    init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    mutating func box(
        x: Double, y: Double, width: Double, height: Double, _ style: String
    ) {
        parts.append(
            "<rect x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" "
                + "width=\"\(Self.number(width))\" height=\"\(Self.number(height))\" rx=\"2\" "
                + "class=\"\(style)\"/>")
    }

    mutating func text(
        _ text: String, x: Double, y: Double, _ anchor: Anchor = .start, style: String? = nil
    ) {
        let style = style.map { " class=\"\($0)\"" } ?? ""
        parts.append(
            "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" "
                + "text-anchor=\"\(anchor.rawValue)\"\(style)>\(Self.escaped(text))</text>")
    }

    mutating func line(from: (x: Double, y: Double), to: (x: Double, y: Double)) {
        parts.append(
            "<line x1=\"\(Self.number(from.x))\" y1=\"\(Self.number(from.y))\" "
                + "x2=\"\(Self.number(to.x))\" y2=\"\(Self.number(to.y))\" class=\"grid\"/>")
    }

    mutating func curve(_ points: [(x: Double, y: Double)], _ style: String) {
        let text = points.map { "\(Self.number($0.x)),\(Self.number($0.y))" }
        parts.append(
            "<polyline points=\"\(text.joined(separator: " "))\" class=\"line \(style)\"/>")
    }

    /// Returns the complete SVG document.
    ///
    /// - Parameters:
    ///   - title: The title. With `description` it serves readers who cannot see the drawing.
    ///   - description: The figures of the drawing in words.
    func svg(title: String, description: String) -> String {
        let size = "\(Self.number(width)) \(Self.number(height))"
        let head = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(size)\" role=\"img\" "
                + "width=\"\(Self.number(width))\" height=\"\(Self.number(height))\">",
            "<title>\(Self.escaped(title))</title>", "<desc>\(Self.escaped(description))</desc>",
            "<style>\n\(Self.style)\n</style>",
            "<rect width=\"100%\" height=\"100%\" class=\"page\"/>",
        ]
        return (head + parts + ["</svg>", ""]).joined(separator: "\n")
    }

    /// Returns the number with at most one decimal, independent of the locale.
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths.isMultiple(of: 10)
            ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths) % 10)"
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.append(character)
            }
        }
    }
}
