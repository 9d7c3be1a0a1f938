/// The result of a journey: one line at the end of a demo, with the command that shows its app.
struct JourneyLine: Hashable {
    let name: String
    let rows: Int
    let missed: Int
    let before: String
    /// The figures of the filtered app; nil if there is none.
    var filtered: String?
    let after: String
    /// The app's name for `make show`.
    let app: String

    /// Returns the line. The widths are those of names, verdicts and figures, in characters.
    func text(_ widths: [Int]) -> String {
        let cells = zip([name, verdict, figures], widths).map { text, width in
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        return "  " + (cells + ["make show ARGS=\(app)"]).joined(separator: "  ")
    }

    private var verdict: String {
        if missed > 0 { return "\(missed) of \(rows) rows DO NOT HOLD" }
        return rows == 1 ? "1 row holds" : "\(rows) rows hold"
    }

    private var figures: String {
        "\(before) → " + (filtered.map { "\($0) filtered, " } ?? "") + after
    }

    /// Returns the lines of the journeys that were played.
    static func lines(of figures: DemoFigures) -> [String] {
        let all = [
            launch(figures), scenarios("a chat app", figures.chats, app: "chats"),
            scenarios("a fitness app", figures.health, app: "health"),
            scenarios("a messaging app", figures.messages, app: "messages"),
            signUp(figures.signUps),
        ].compactMap(\.self)
        let widths = [
            all.map(\.name.count).max() ?? 0, all.map(\.verdict.count).max() ?? 0,
            all.map(\.figures.count).max() ?? 0,
        ]
        return all.map { $0.text(widths) }
    }

    private static func scenarios(
        _ name: String, _ results: [ScenarioResult], app: String
    ) -> JourneyLine? {
        guard !results.isEmpty else { return nil }
        func reads(_ all: [Measured]) -> String {
            let wrong = all.reduce(0) { $0 + $1.difference.count }
            let reads = grouped(all.reduce(0) { $0 + $1.reads }) + " reads"
            return wrong == 0 ? reads : "\(reads) (\(grouped(wrong)) wrong)"
        }
        let filtered = results.compactMap(\.filtered)
        return JourneyLine(
            name: name, rows: results.count, missed: results.filter { !$0.holds }.count,
            before: reads(results.map(\.before)),
            filtered: filtered.isEmpty ? nil : reads(filtered),
            after: reads(results.map(\.after)), app: app)
    }

    private static func launch(_ figures: DemoFigures) -> JourneyLine? {
        guard let launches = figures.launches else { return nil }
        let rows = launches.summary
        let before = launches.launches.map(\.before.firstContentMs)
        let after = launches.launches.map(\.after.slowest.ms)
        return JourneyLine(
            name: "a launch", rows: rows.count, missed: rows.filter { !$0.holds }.count,
            before: "first content in \(longest(before)) at worst", after: longest(after),
            app: "stamps")
    }

    /// Returns the longest time. A launch that shows nothing counts as longer than any other.
    private static func longest(_ times: [Double?]) -> String {
        SummaryRow.time(times.contains { $0 == nil } ? nil : times.compactMap(\.self).max())
    }

    private static func signUp(_ scenarios: [LaunchScenario<SignUpFigures>]) -> JourneyLine? {
        guard !scenarios.isEmpty else { return nil }
        func halves(_ figures: KeyPath<LaunchScenario<SignUpFigures>, SignUpFigures>) -> Int {
            scenarios.map { $0[keyPath: figures] }.reduce(0) {
                $0 + $1.accountsWithoutProfile + $1.profilesWithoutAccount + $1.deadEnds
            }
        }
        return JourneyLine(
            name: "a sign-up", rows: scenarios.count,
            missed: scenarios.filter { !$0.holds }.count,
            before: "\(halves(\.before)) half made or stuck", after: "\(halves(\.after))",
            app: "homes")
    }
}
