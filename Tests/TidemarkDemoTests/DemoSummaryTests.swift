import Foundation
import Testing
import TidemarkModel

@testable import TidemarkDemo

struct `The summary of all journeys` {
    private func result(
        _ name: String, _ network: DemoNetwork, reads: Int, after: Int, seconds: Int,
        bar: Bar = Bar()
    ) -> ScenarioResult {
        var (before, measured) = (Measured(), Measured())
        (before.reads, measured.reads) = (reads, after)
        (before.upToDate, measured.upToDate) = (.seconds(seconds), .milliseconds(900))
        (before.hadContentOffline, measured.hadContentOffline) = (true, true)
        return ScenarioResult(
            name: name, network: network, bar: bar, before: before, after: measured)
    }

    private func launch(
        _ network: String, why: [String] = [], slow: [SlowTime] = []
    ) -> LaunchScenario<LaunchFigure> {
        var (before, after) = (LaunchFigure(), LaunchFigure())
        (before.firstContentMs, before.slowest.worstMs) = (10_002, 10_002)
        (after.firstContentMs, after.slowest.worstMs) = (2, 3.25)
        (before.slowest.launches, after.slowest.launches) = (1, 40)
        (after.liveMs, before.liveMs) = (129, 49)
        return LaunchScenario(
            name: "launch", network: network, bar: "in time", before: before, after: after,
            why: why, slow: slow)
    }

    private func signUp(_ network: String) -> LaunchScenario<SignUpFigures> {
        func figures(_ orphans: Int) -> SignUpFigures {
            SignUpFigures(
                devices: 10, killed: 10, accounts: 10, accountsWithoutProfile: orphans,
                profilesWithoutAccount: 0, secondAccounts: 0, deadEnds: orphans, finished: 10)
        }
        return LaunchScenario(
            name: "sign-up", network: network, bar: "", before: figures(3), after: figures(0))
    }

    private func text(_ figures: DemoFigures) -> [String] {
        DemoSummary(figures, seconds: 290, details: "tables.txt").lines
    }

    @Test func `closes with what 1,000 users cost, before and after`() {
        var figures = DemoFigures()
        var again = result("open a chat again", .healthy, reads: 2, after: 2, seconds: 1)
        again.away = 1_200
        var filtered = result(
            "open a chat of 1,000 with 50 new", .healthy, reads: 1_000, after: 51, seconds: 1)
        filtered.filtered = Measured()
        filtered.filtered?.reads = 50
        filtered.filtered?.difference.missed = ["a"]
        figures.chats = [
            again,
            result("open a chat of 1,000 with 50 new", .threeG, reads: 9, after: 9, seconds: 9),
            filtered,
        ]
        let lines = text(figures)
        #expect(
            lines.contains(
                "1,000 users × 50 opens a day more than 30 minutes apart: open a chat of 1,000 "
                    + "with 50 new, by its reads above"))
        #expect(
            lines.contains {
                $0.hasPrefix("    filtered:    2,500,000 reads a day")
                    && $0.hasSuffix(", and loses items")
            })
        #expect(
            lines.contains(
                "  as many opens within 30 minutes of the previous one: 2 reads before, 2 reads "
                    + "on Tidemark each"))
        #expect(lines.contains { $0.hasPrefix("    on Tidemark: 100,000 reads a day: $0.36") })
        #expect(
            lines.contains(
                "    before:      50,000,000 reads a day: $180.00 a day, $5,400.00 a month, "
                    + "$65,700.00 a year"))
        #expect(
            lines.contains(
                "    on Tidemark: 2,550,000 reads a day: $9.18 a day, $275.40 a month, "
                    + "$3,350.70 a year"))
        // The price here is $0.06, with 50,000 free reads a day.
        #expect(
            lines.contains { $0.hasPrefix("    on Tidemark: 2,550,000 reads a day: $1.50 a day") })
        #expect(!text(DemoFigures()).contains { $0.contains("a year") })
    }

    @Test func `has a line a row, on the network that took the old app longest`() {
        var figures = DemoFigures()
        figures.chats = [
            result("a chat", .healthy, reads: 1_000, after: 50, seconds: 1),
            result("a chat", .threeG, reads: 1_000, after: 51, seconds: 24),
            result("a list", .healthy, reads: 7, after: 7, seconds: 1),
        ]
        figures.launches = LaunchDemoFigures(launches: [launch("blackhole")])
        figures.signUps = [signUp("3g")]
        let lines = text(figures).filter { !$0.contains("make show") }
        #expect(lines.filter { $0.contains("a chat ") && $0.contains("reads") }.count == 1)
        let chat = lines.first { $0.contains("a chat ") && $0.contains("reads") } ?? ""
        #expect(chat.contains("3g"))
        #expect(chat.contains("1,000 reads, 24.0 s") && chat.contains("51 reads, 900 ms"))
        #expect(
            lines.contains {
                $0.contains("10.0 s (slowest of 1)") && $0.contains("3.2 ms (slowest of 40)")
            })
        #expect(lines.contains { $0.contains("3 orphans, 3 dead ends of 10") })
        #expect(lines.contains("All checks passed. 290 s of play."))
        #expect(lines.last == "All tables: tables.txt")
    }

    @Test func `has a line a journey, with the app that shows it`() {
        var figures = DemoFigures()
        figures.launches = LaunchDemoFigures(
            launches: [launch("blackhole"), launch("3g", why: ["nothing was shown"])])
        figures.chats = [
            result("a chat", .healthy, reads: 1_000, after: 50, seconds: 1),
            result("a list", .threeG, reads: 7, after: 5, seconds: 1, bar: Bar(reads: 2)),
        ]
        figures.signUps = [signUp("3g"), signUp("healthy")]
        let lines = text(figures).filter { $0.contains("make show") }
        #expect(
            lines == [
                "  a launch    1 of 2 rows DO NOT HOLD  "
                    + "first content in 10.0 s at worst → 3.2 ms  make show ARGS=stamps",
                "  a chat app  1 of 2 rows DO NOT HOLD  "
                    + "1,007 reads → 55 reads                     make show ARGS=chats",
                "  a sign-up   2 rows hold              "
                    + "12 half made or stuck → 0                  make show ARGS=homes",
            ])
        #expect(!text(DemoFigures()).contains { $0.contains("make show") })
    }

    @Test func `shows the network on which a row does not hold, and says why`() {
        var figures = DemoFigures()
        figures.messages = [
            result("paging", .threeG, reads: 100, after: 10, seconds: 30),
            result("paging", .offline, reads: 100, after: 90, seconds: 1, bar: Bar(reads: 10)),
        ]
        let lines = text(figures)
        #expect(lines.contains { $0.contains("offline") && $0.hasSuffix("DOES NOT HOLD") })
        #expect(lines.contains { $0.contains("90 reads, but the limit is 10") })
        #expect(lines.contains("1 check failed. 290 s of play."))
    }

    @Test func `fits on one screen, whatever does not hold`() {
        var figures = DemoFigures()
        for number in 0..<80 {
            figures.chats += DemoNetwork.allCases.map {
                result(
                    String(repeating: "a long name ", count: 9) + "\(number)", $0, reads: 100,
                    after: 90, seconds: 1, bar: Bar(reads: 10))
            }
        }
        let lines = text(figures)
        #expect(lines.count == DemoSummary.mostLines)
        #expect(lines.allSatisfy { $0.count <= 210 })
        #expect(lines.contains { $0.contains("more rows") })
        #expect(lines.contains { $0.contains("and 315 more failed checks") })
    }

    @Test func `fails the demo where a launch, a sign-up or a picture does not hold`() {
        var figures = DemoFigures()
        figures.launches = LaunchDemoFigures(launches: [launch("3g", why: ["1 stamps missed"])])
        #expect(figures.complaints == ["launch, 3g, does not hold: 1 stamps missed."])
        figures.pictures = [
            LaunchScenario(
                name: "a feed", network: "healthy", bar: "few", before: [:],
                after: ["MiB": 200], why: ["MiB is 200, not at most 95"])
        ]
        #expect(figures.complaints.count == 2)
    }

    @Test func `remarks times that are too long, and ends well`() {
        var figures = DemoFigures()
        let slow = SlowTime("the app's first content (slowest of 40) ms", 31, limit: 20)
        figures.launches = LaunchDemoFigures(
            launches: [launch("3g", slow: [slow].compactMap(\.self))])
        #expect(figures.complaints == [] && figures.remarks.count == 1)
        let remark = "the app's first content (slowest of 40) 31 ms, slower than 20 ms here"
        let lines = text(figures)
        #expect(lines.contains { $0.contains("first content") && $0.hasSuffix("  " + remark) })
        #expect(lines.contains("launch, 3g: " + remark))
        #expect(lines.contains { $0.hasPrefix("All facts are right. One time is over") })
        #expect(!lines.contains { $0.contains("DOES NOT HOLD") })
    }

    @Test func `says where Tidemark is slower, the largest difference first`() {
        var figures = DemoFigures()
        figures.launches = LaunchDemoFigures(launches: [launch("healthy")])
        var send = result("send", .threeG, reads: 1, after: 1, seconds: 9)
        (send.before.figures["send ms"], send.after.figures["send ms"]) = (1_102, 1_830)
        // A difference of at most a tenth, or of less than a millisecond, does not count.
        (send.before.figures["load ms"], send.after.figures["load ms"]) = (100, 110)
        (send.before.figures["page ms"], send.after.figures["page ms"]) = (1, 1.9)
        figures.messages = [send]
        #expect(
            SlowerOnTidemark.all(of: figures).map(\.text) == [
                "send, send, 3g: 1.8 s, and 1.1 s before",
                "live, a launch, healthy: 129 ms, and 49 ms before",
            ])
        let lines = text(figures)
        let start = lines.firstIndex(of: "Slower on Tidemark than before:")
        #expect(
            start.map { lines[$0 + 2] } == "  live, a launch, healthy: 129 ms, and 49 ms before")
    }

    @Test func `has the app with a filter in a column of its own, with what it lost`() {
        var figures = DemoFigures()
        var row = result("a chat", .healthy, reads: 1_000, after: 51, seconds: 1)
        row.away = 86_400
        row.filtered = Measured()
        row.filtered?.reads = 50
        row.filtered?.difference.missed = ["a", "b"]
        row.filtered?.difference.outdated = ["c"]
        figures.chats = [row]
        let lines = text(figures)
        #expect(lines[0].contains("filtered") && lines[0].contains("away"))
        let shown = lines.first { $0.contains("a chat ") && $0.contains("healthy") } ?? ""
        #expect(shown.contains("1 d") && shown.contains("50 reads, 2 missed, 1 edit missed"))
        #expect(
            lines.contains {
                $0.contains("1,000 reads → 50 reads (3 wrong) filtered, 51 reads")
            })
        let table = "\(ScenarioTable(results: [row]))".split(separator: "\n")
        #expect(table.contains { $0.contains("a chat, 1 d away: ") })
        #expect(table.contains { $0.contains(" filtered ") && $0.contains("95.0 %") })
    }

    @Test func `is written with all journeys as one list`() throws {
        var figures = DemoFigures()
        figures.chats = [result("a chat", .healthy, reads: 1, after: 1, seconds: 1)]
        figures.launches = LaunchDemoFigures(launches: [launch("3g")])
        figures.signUps = [signUp("3g")]
        let object = try JSONSerialization.jsonObject(with: try figures.json())
        let list = (object as? [String: Any])?["scenarios"] as? [[String: Any]]
        #expect(list?.compactMap { $0["name"] as? String } == ["a chat", "launch", "sign-up"])
    }
}

struct `What a demo prints` {
    @Test func `goes to a file where it is a detail`() throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("demo-output-\(UUID().uuidString)/tables.txt").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let output = try DemoOutput(path: path)
        output.detail("a table")
        output.complaint("a reason")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "a table\na reason\n")
        #expect(output.path == path)
    }

    @Test(arguments: [DemoExtent.small, .telling, .full])
    func `is of every journey, whatever the extent`(extent: DemoExtent) {
        #expect(!extent.chats.isEmpty && !extent.messages.isEmpty && !extent.health.isEmpty)
        #expect(!extent.launches.networks.isEmpty && !extent.signUps.networks.isEmpty)
        #expect(extent.pictures.count == 4)
    }
}
