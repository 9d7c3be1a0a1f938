import Foundation

/// The results of all journeys on one screen, one line per row.
struct DemoSummary {
    static let mostLines = 84
    /// The maximum number of printed lines of each kind. The file with the details has the rest.
    static let mostComplaints = 5

    private let figures: DemoFigures
    private let seconds: Double
    private let details: String?

    /// - Parameter details: The path of the file with all tables; nil if there is none.
    init(_ figures: DemoFigures, seconds: Double, details: String?) {
        self.figures = figures
        self.seconds = seconds
        self.details = details
    }

    var text: String { lines.joined(separator: "\n") }

    var lines: [String] {
        let end = closing
        let room = Self.mostLines - end.count
        let rows = table
        if rows.count <= room { return rows + end }
        let left = rows.count - room + 1
        return rows.prefix(room - 1) + ["  … and \(left) more rows"] + end
    }

    private var table: [String] {
        let parts: [(String, [SummaryRow])] = [
            ("a chat app", SummaryRow.rows(of: figures.chats)),
            ("a messaging app", SummaryRow.rows(of: figures.messages)),
            ("a launch", figures.launches?.summary ?? []),
            ("a sign-up, killed (-9) at each step", figures.signUps.map(SummaryRow.init)),
            ("a fitness app", SummaryRow.rows(of: figures.health)),
            ("pictures", figures.pictures.map(SummaryRow.init)),
            ("a day on the battery", figures.day.map { [.day($0)] } ?? []),
        ]
        let head = SummaryRow(
            name: "", network: "network", away: "away", before: "before", filtered: "filtered",
            after: "on Tidemark")
        let cells = ([head] + parts.flatMap(\.1)).map(\.cells)
        let widths = head.cells.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return [head.line(widths)]
            + parts.filter { !$0.1.isEmpty }.flatMap { name, rows in
                [name] + rows.map { $0.line(widths) }
            }
    }

    private var closing: [String] {
        let (complaints, remarks) = (figures.complaints, figures.remarks)
        let slower = SlowerOnTidemark.all(of: figures).map(\.text)
        var lines = Headline(figures.chats)?.lines ?? []
        lines += JourneyLine.lines(of: figures)
        if !slower.isEmpty {
            lines.append("Slower on Tidemark than before:")
            lines += Self.first(slower, "more", indent: "  ")
        }
        lines += Self.first(remarks, "more times over their limits")
        lines += Self.first(complaints, "more failed checks")
        lines.append(verdict(complaints.count, remarks.count))
        if let details { lines.append("All tables: \(details)") }
        return lines
    }

    /// A time that is too long does not make a demo fail.
    private func verdict(_ complaints: Int, _ remarks: Int) -> String {
        let play = String(format: "%.0f s of play.", seconds)
        if complaints > 0 {
            return "\(complaints) \(complaints == 1 ? "check" : "checks") failed. \(play)"
        }
        if remarks == 0 { return "All checks passed. \(play)" }
        let times =
            remarks == 1
            ? "One time is over its limit" : "\(remarks) times are over their limits"
        return "All facts are right. \(times) on this machine. \(play)"
    }

    private static func first(
        _ texts: [String], _ rest: String, indent: String = ""
    ) -> [String] {
        let more = texts.count - mostComplaints
        return texts.prefix(mostComplaints).map { indent + shortened($0) }
            + (more > 0 ? ["\(indent)… and \(more) \(rest)"] : [])
    }

    private static func shortened(_ text: String) -> String {
        text.count <= 200 ? text : text.prefix(199) + "…"
    }
}
