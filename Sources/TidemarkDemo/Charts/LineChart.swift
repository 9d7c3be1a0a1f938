/// A chart of a value over time, with one line for the app as it was and one for the app on
/// Tidemark.
struct LineChart {
    let title: String
    let note: String
    /// The unit, written after a value.
    let unit: String
    let before, after: [Double]

    private static let (width, height) = (760.0, 300.0)
    private static let (left, right, top, bottom) = (60.0, 150.0, 62.0, 40.0)

    var svg: String {
        var drawing = Drawing(width: Self.width, height: Self.height)
        drawing.text(title, x: 16, y: 26, style: "title")
        drawing.text(note, x: 16, y: 46, style: "quiet")
        for part in 0...4 {
            let value = most * Double(part) / 4
            let y = place(0, value).y
            drawing.line(from: (Self.left, y), to: (Self.width - Self.right, y))
            drawing.text(
                "\(Int(value.rounded()))", x: Self.left - 8, y: y + 4, .end, style: "quiet")
        }
        for (values, side) in [(before, "before"), (after, "after")] {
            guard let last = values.last else { continue }
            let points = values.enumerated().map { place($0.offset, $0.element) }
            drawing.curve(points, "\(side)-line")
            drawing.text(
                "\(side == "before" ? "before" : "on Tidemark") \(Int(last.rounded())) \(unit)",
                x: place(values.count - 1, last).x + 6, y: labels[side] ?? 0, style: "quiet")
        }
        let count = max(before.count, after.count)
        drawing.text("1", x: Self.left, y: Self.height - 16, .middle, style: "quiet")
        drawing.text(
            "\(count)", x: Self.width - Self.right, y: Self.height - 16, .middle, style: "quiet")
        return drawing.svg(title: title, description: description)
    }

    private var description: String {
        "From \(Int(before.first ?? 0)) to \(Int(before.last ?? 0)) \(unit) before, "
            + "from \(Int(after.first ?? 0)) to \(Int(after.last ?? 0)) \(unit) on Tidemark."
    }

    /// The vertical positions of the lines' names: at the ends of the lines, at least 16 apart.
    private var labels: [String: Double] {
        let (first, second) = (place(0, before.last ?? 0).y + 4, place(0, after.last ?? 0).y + 4)
        if abs(first - second) >= 16 { return ["before": first, "after": second] }
        let middle = (first + second) / 2
        return first <= second
            ? ["before": middle - 8, "after": middle + 8]
            : ["before": middle + 8, "after": middle - 8]
    }

    /// The top of the scale: the largest value, rounded up to a multiple of 20.
    private var most: Double {
        let largest = (before + after).max() ?? 1
        return max(4, (largest / 20).rounded(.up) * 20)
    }

    private func place(_ index: Int, _ value: Double) -> (x: Double, y: Double) {
        let count = max(before.count, after.count)
        let share = count > 1 ? Double(index) / Double(count - 1) : 0
        let room = (Self.width - Self.left - Self.right, Self.height - Self.top - Self.bottom)
        return (Self.left + share * room.0, Self.top + room.1 * (1 - value / most))
    }
}
