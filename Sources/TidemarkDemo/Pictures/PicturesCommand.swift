import ArgumentParser

struct PicturesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pictures",
        abstract: "Show a feed's pictures and scroll past a thousand pictures, before and after.",
        discussion: """
            Serves generated JPEGs from this process and shows them at 56×56 in separate \
            processes: before, with whole pictures decoded and kept, and on Tidemark. Fails with \
            a reason if a check fails. A time over its limit is only a remark.
            """)

    @Flag(help: "Play everything at a tenth of its size.") var small = false
    @Option(
        name: .customLong("scenario"),
        help: ArgumentHelp(
            "Play only scenarios with this text in their name. Repeatable.",
            valueName: "text"))
    var names: [String] = []
    @Option(help: "Write the figures to this file, as JSON.") var json: String?
    @OptionGroup var times: TimeOptions

    func run() async throws {
        let rows = PictureRow.all(scale: small ? 10 : 1).filter { row in
            names.isEmpty || names.contains { row.name.contains($0) }
        }
        let (figures, judge) = try await times.play {
            var figures = DemoFigures()
            figures.pictures = try await PicturesDemo(rows: rows).play(.verbose)
            return figures
        }
        try DemoEnd(json: json, judge: judge).conclude(figures, .verbose)
    }
}
