/// A time that is longer on Tidemark than in the app as it was.
struct SlowerOnTidemark: Hashable, Sendable {
    /// The name of the measured time, and the row and the network.
    let what: String
    /// The times in milliseconds.
    let before: Double
    let after: Double

    /// The smallest difference in milliseconds, and the smallest ratio, that count. Smaller ones
    /// are the variation between runs.
    private static let (least, share) = (1.0, 1.1)

    /// - Returns: A value only if both times exist and the app on Tidemark is slower.
    private init?(what: String, before: Double?, after: Double?) {
        guard let before, let after, after > before * Self.share, after - before > Self.least
        else { return nil }
        (self.what, self.before, self.after) = (what, before, after)
    }

    var text: String {
        "\(what): \(SummaryRow.time(after)), and \(SummaryRow.time(before)) before"
    }

    /// Returns the slower times of a demo, with the largest difference first.
    static func all(of figures: DemoFigures) -> [SlowerOnTidemark] {
        let all =
            figures.scenarios.flatMap { times(of: $0) }
            + (figures.launches?.launches ?? []).flatMap { times(of: $0) }
            + figures.pictures.flatMap { times(of: $0) }
        return all.sorted { ($1.after - $1.before, $0.what) < ($0.after - $0.before, $1.what) }
    }

    private static func times(of row: ScenarioResult) -> [SlowerOnTidemark] {
        let place = "\(row.name), \(row.network.rawValue)"
        let (before, after) = (row.before, row.after)
        let named = after.figures.keys.filter { $0.hasSuffix(" ms") }.sorted().map {
            SlowerOnTidemark(
                what: "\($0.dropLast(3)), \(place)", before: before.figures[$0],
                after: after.figures[$0])
        }
        return
            ([
                SlowerOnTidemark(
                    what: "first content, \(place)", before: before.firstContent?.milliseconds,
                    after: after.firstContent?.milliseconds),
                SlowerOnTidemark(
                    what: "up to date, \(place)", before: before.upToDate?.milliseconds,
                    after: after.upToDate?.milliseconds),
            ] + named).compactMap(\.self)
    }

    private static func times(of launch: LaunchScenario<LaunchFigure>) -> [SlowerOnTidemark] {
        let (before, after) = (launch.before, launch.after)
        return [
            ("first content", before.firstContentMs, after.firstContentMs),
            ("the profile", before.profileMs, after.profileMs),
            ("live", before.liveMs, after.liveMs), ("a picture", before.pictureMs, after.pictureMs),
        ].compactMap {
            SlowerOnTidemark(
                what: "\($0.0), a launch, \(launch.network)", before: $0.1, after: $0.2)
        }
    }

    /// Compares rows only if both apps show the same pictures.
    private static func times(
        of pictures: LaunchScenario<[String: Double]>
    ) -> [SlowerOnTidemark] {
        guard pictures.before["shown"] == pictures.after["shown"] else { return [] }
        return pictures.after.keys.filter { $0.hasSuffix("-ms") }.sorted().compactMap {
            SlowerOnTidemark(
                what: "\($0.dropLast(3)), \(pictures.name), \(pictures.network)",
                before: pictures.before[$0],
                after: pictures.after[$0])
        }
    }
}
