import Foundation
import Testing
import TidemarkModel

@testable import TidemarkDemo

@Suite struct `The summary of all journeys` {
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

    private func launch(_ network: String, holds: Bool) -> LaunchScenario<LaunchFigure> {
        var (before, after) = (LaunchFigure(), LaunchFigure())
        before.firstContentMs = 10_002
        after.firstContentP99Ms = 3.25
        return LaunchScenario(
            name: "launch", network: network, holds: holds, bar: "in time", before: before,
            after: after)
    }

    private func signUp(_ network: String) -> LaunchScenario<SignUpFigures> {
        func figures(_ orphans: Int) -> SignUpFigures {
            SignUpFigures(
                devices: 10, killed: 10, accounts: 10, accountsWithoutProfile: orphans,
                profilesWithoutAccount: 0, secondAccounts: 0, deadEnds: orphans, finished: 10)
        }
        return LaunchScenario(
            name: "sign-up", network: network, holds: true, bar: "", before: figures(3),
            after: figures(0))
    }

    private func text(_ figures: DemoFigures) -> [String] {
        DemoSummary(figures, seconds: 290, details: "tables.txt").lines
    }

    @Test func `closes with what 1,000 users cost, before and after`() {
        var figures = DemoFigures()
        figures.chats = [
            result("open a chat of 1,000 with 50 new", .threeG, reads: 9, after: 9, seconds: 9),
            result(
                "open a chat of 1,000 with 50 new", .healthy, reads: 1_000, after: 51, seconds: 1),
        ]
        let lines = text(figures)
        #expect(
            lines.contains(
                "    before:      50,000,000 reads a day: $180.00 a day, $5,400.00 a month, "
                    + "$65,700.00 a year"))
        #expect(
            lines.contains(
                "    on Tidemark: 2,550,000 reads a day: $9.18 a day, $275.40 a month, "
                    + "$3,350.70 a year"))
        // With 50,000 free a day, at $0.06.
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
        figures.launches = LaunchDemoFigures(launches: [launch("blackhole", holds: true)])
        figures.signUps = [signUp("3g")]
        let lines = text(figures).filter { !$0.contains("make show") }
        #expect(lines.filter { $0.contains("a chat ") && $0.contains("reads") }.count == 1)
        let chat = lines.first { $0.contains("a chat ") && $0.contains("reads") } ?? ""
        #expect(chat.contains("3g"))
        #expect(chat.contains("1,000 reads, 24.0 s") && chat.contains("51 reads, 900 ms"))
        #expect(lines.contains { $0.contains("10.0 s") && $0.contains("3.2 ms (p99)") })
        #expect(lines.contains { $0.contains("3 orphans, 3 dead ends of 10") })
        #expect(lines.contains("Everything holds. 290 s of play."))
        #expect(lines.last == "All tables: tables.txt")
    }

    @Test func `has a line a journey, with the app that shows it`() {
        var figures = DemoFigures()
        figures.launches = LaunchDemoFigures(
            launches: [launch("blackhole", holds: true), launch("3g", holds: false)])
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
        #expect(lines.contains { $0.contains("90 reads, and 10 are the most") })
        #expect(lines.contains("1 do not hold. 290 s of play."))
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
        #expect(lines.contains { $0.contains("and 315 more that do not hold") })
    }

    @Test func `fails the demo where a launch, a sign-up or a picture does not hold`() {
        var figures = DemoFigures()
        figures.launches = LaunchDemoFigures(launches: [launch("3g", holds: false)])
        #expect(figures.complaints == ["launch, 3g, does not hold: in time."])
        figures.pictures = [
            LaunchScenario(
                name: "a feed", network: "healthy", holds: false, bar: "few", before: [:],
                after: ["MiB": 200])
        ]
        #expect(figures.complaints.count == 2)
    }

    @Test func `is written with all journeys as one list`() throws {
        var figures = DemoFigures()
        figures.chats = [result("a chat", .healthy, reads: 1, after: 1, seconds: 1)]
        figures.launches = LaunchDemoFigures(launches: [launch("3g", holds: true)])
        figures.signUps = [signUp("3g")]
        let object = try JSONSerialization.jsonObject(with: try figures.json())
        let list = (object as? [String: Any])?["scenarios"] as? [[String: Any]]
        #expect(list?.compactMap { $0["name"] as? String } == ["a chat", "launch", "sign-up"])
    }
}

@Suite struct `What a demo prints` {
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
