/// A chart of pairs of bars, one pair per row: the app as it was above the app on Tidemark.
struct PairChart {
    struct Row {
        let name: String
        /// The values; nil for an event that never happened.
        let before, after: Double?
    }

    /// The rule for the length of a bar.
    enum Scale {
        /// The share of the row's larger value, so that rows of different sizes fit into one chart.
        case share
        /// The logarithm of the value, between two positive values.
        case logarithm(from: Double, to: Double, ticks: [(Double, String)])
    }

    let title: String
    let note: String
    let scale: Scale
    let rows: [Row]
    /// Returns a value in words.
    let words: (Double?) -> String

    private static let (width, left, right, top, step) = (760.0, 16.0, 110.0, 62.0, 58.0)

    var svg: String {
        let isTimed = if case .logarithm = scale { true } else { false }
        let bottom = isTimed ? 34.0 : 12.0
        var drawing = Drawing(
            width: Self.width, height: Self.top + Self.step * Double(rows.count) + bottom)
        drawing.text(title, x: Self.left, y: 26, style: "title")
        drawing.text(note, x: Self.left, y: 46, style: "quiet")
        drawTicks(in: &drawing)
        for (index, row) in rows.enumerated() {
            let y = Self.top + Self.step * Double(index)
            drawing.text(row.name, x: Self.left, y: y + 14)
            draw(row.before, of: row, "before", y: y + 20, in: &drawing)
            draw(row.after, of: row, "after", y: y + 36, in: &drawing)
        }
        return drawing.svg(title: title, description: description)
    }

    private var description: String {
        rows.map { "\($0.name): \(words($0.before)) before, \(words($0.after)) on Tidemark." }
            .joined(separator: " ")
    }

    private var room: Double { Self.width - Self.left - Self.right }

    private func draw(
        _ value: Double?, of row: Row, _ side: String, y: Double, in drawing: inout Drawing
    ) {
        let length = max(2, share(of: value, in: row) * room)
        let style = value == nil ? "\(side) never" : side
        drawing.box(x: Self.left, y: y, width: length, height: 13, style)
        drawing.text(words(value), x: Self.left + length + 6, y: y + 11, style: "quiet")
    }

    /// Returns the length from 0 to 1.
    private func share(of value: Double?, in row: Row) -> Double {
        guard let value else { return 1 }
        switch scale {
        case .share:
            let most = max(row.before ?? 0, row.after ?? 0)
            return most > 0 ? value / most : 0
        case .logarithm(let from, let to, _):
            return min(1, max(0, (value / from).logarithm / (to / from).logarithm))
        }
    }

    private func drawTicks(in drawing: inout Drawing) {
        guard case .logarithm(let from, let to, let ticks) = scale else { return }
        let end = Self.top + Self.step * Double(rows.count)
        for (value, name) in ticks {
            let x = Self.left + (value / from).logarithm / (to / from).logarithm * room
            drawing.line(from: (x, Self.top), to: (x, end + 4))
            drawing.text(name, x: x, y: end + 20, .middle, style: "quiet")
        }
    }
}
