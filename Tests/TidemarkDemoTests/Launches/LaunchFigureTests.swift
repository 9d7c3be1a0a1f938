import ExampleKit
import Foundation
import Testing
import TidemarkModel
import TidemarkPhones
import TidemarkServer

@testable import TidemarkDemo

struct `What a launch comes to` {
    /// Returns a detail in the form of the server's meter.
    private func detail(_ target: String, _ method: RPCMethod, _ reads: Int) -> MeterDetail {
        let text = """
            {"target": "\(target)", "method": "\(method.rawValue)", "reads": \(reads), "writes": 0,
             "deletes": 0}
            """
        return try! JSONDecoder().decode(MeterDetail.self, from: Data(text.utf8))
    }

    private func row(_ id: String, picture: Bool?) -> Row {
        Row(id, id, picture: Picture("S", tint: 0)).with {
            $0.isDocument = true
            $0.picture?.isLoaded = picture
        }
    }

    private func screen(_ state: Screen.State, _ rows: [Row], profile: Bool = true) -> Screen {
        let figures = [Row("profile", "Ada", kind: profile ? .figure : .skeleton)]
        return Screen(
            "Stamps", state,
            sections: [Screen.Section(nil, figures), Screen.Section("Newest", rows)])
    }

    /// Returns a launch with a new stamp `b`, whose picture comes 430 ms later. The picture of `a`
    /// is on the disk.
    private func launch(isReached: Bool = true) -> WholeLaunch {
        var use = PhoneUse()
        use.begins = 90
        use.screens = [
            .init(Screen("Stamps"), 95),
            .init(screen(.stale(age: 60, reason: "Old."), [row("a", picture: false)]), 100),
            .init(screen(.stale(age: 60, reason: "Old."), [row("a", picture: true)]), 110),
            .init(screen(.fresh, [row("b", picture: false), row("a", picture: true)]), 1_500),
            .init(screen(.fresh, [row("b", picture: true), row("a", picture: true)]), 1_930),
        ]
        let bill = Bill([
            detail("stamps", .listen, 3), detail("users", .runAggregationQuery, 3),
            detail(MeterDetail.ofRules, .listen, 2),
        ])
        return WholeLaunch(
            use: use, truth: ["b", "a"], bill: bill, isReached: isReached, fromNetwork: ["b"])
    }

    private func figure() -> LaunchFigure {
        var figure = LaunchFigure(firsts: [], whole: [launch()])
        figure.overDeadlineMs = 1
        return figure
    }

    @Test func `is counted from the moment at which the process was asked for`() {
        let figure = figure()
        #expect(figure.firstContentMs == 100 && figure.firstContentOfInitMs == 10)
        #expect(figure.startMs == 90 && figure.profileMs == 100)
        #expect(figure.liveMs == 1_500 && figure.completeMs == 1_930)
        #expect(figure.pictureMs == 430 && figure.pictureWorstMs == 430)
        #expect(figure.picturesLoaded == 1)
        #expect(figure.reads == 6 && figure.readsOfRules == 2)
        #expect(figure.missed == 0 && figure.extra == 0 && figure.items == 2)
        #expect(LaunchNetwork.allCases.allSatisfy { figure.wrongs(on: $0).isEmpty })
        #expect(LaunchNetwork.allCases.allSatisfy { figure.slow(on: $0).isEmpty })
    }

    @Test func `tells a figure that some launch did not come to`() {
        var never = launch().use
        never.screens.removeLast(4)
        let other = WholeLaunch(
            use: never, truth: ["b", "a"], bill: Bill([]), isReached: true, fromNetwork: [])
        let figure = LaunchFigure(firsts: [], whole: [launch(), other])
        #expect(figure.firstContentMs == 100 && figure.slowest.ms == nil)
        #expect(figure.liveWorstMs == nil && figure.missed == 2)
        #expect(figure.shown == "a loading screen" && !figure.isUsable)
    }

    @Test func `is not live where nobody answers, whatever the app says`() {
        #expect(LaunchFigure(firsts: [], whole: [launch(isReached: false)]).liveMs == nil)
    }

    /// Returns the networks on which something is wrong, and those on which something is slow.
    private func networks(
        _ change: (inout LaunchFigure) -> Void
    ) -> (wrong: [LaunchNetwork], slow: [LaunchNetwork]) {
        var figure = figure()
        change(&figure)
        return (
            LaunchNetwork.allCases.filter { !figure.wrongs(on: $0).isEmpty },
            LaunchNetwork.allCases.filter { !figure.slow(on: $0).isEmpty }
        )
    }

    @Test func `does not hold with a stamp that is missed, nothing shown, no way on`() {
        #expect(networks { $0.missed = 1 }.wrong == [.healthy, .threeG])
        #expect(networks { $0.extra = 1 }.wrong == [.healthy, .threeG])
        #expect(networks { $0.liveWorstMs = nil }.wrong == [.healthy, .threeG])
        #expect(networks { $0.completeMs = nil }.wrong == [.healthy, .threeG])
        #expect(networks { $0.isUsable = false }.wrong == LaunchNetwork.allCases)
        #expect(networks { $0.items = 0 }.wrong == LaunchNetwork.allCases)
        #expect(networks { $0.slowest.worstMs = nil }.wrong == LaunchNetwork.allCases)
        #expect(networks { $0.overDeadlineMs = nil }.wrong == LaunchNetwork.allCases)
    }

    @Test func `is slow and holds with a picture, a read or a first content that is late`() {
        func late(_ change: (inout LaunchFigure) -> Void) -> [LaunchNetwork] {
            let (wrong, slow) = networks(change)
            #expect(wrong.isEmpty)
            return slow
        }
        #expect(late { $0.pictureMs = 501 } == [.threeG])
        #expect(late { $0.pictureWorstMs = 1_301 } == [.threeG])
        #expect(late { $0.liveWorstMs = 3_001 } == [.threeG])
        #expect(late { $0.overDeadlineMs = 51 } == LaunchNetwork.allCases)
        #expect(late { $0.slowest.ofInitWorstMs = 21 } == LaunchNetwork.allCases)
        #expect(late { $0.slowest.worstMs = 1_001 } == LaunchNetwork.allCases)
    }

    @Test func `says which launch was too slow: of 40 the slowest`() {
        let uses = (1...40).map { number in
            var use = PhoneUse()
            use.begins = 10
            let rows = [row("a", picture: nil)]
            use.screens = [.init(screen(.quiet, rows), 10 + Double(number))]
            return use
        }
        let figure = LaunchFigure(firsts: uses, whole: [launch()], compared: 11)
        #expect(figure.launches == 11 && figure.firstContentMs == 16)
        #expect(figure.slowest.ms == 50 && figure.slowest.p99Ms == nil)
        #expect(
            figure.slow(on: .healthy).map(\.text)
                == ["the app's first content (slowest of 40) 40 ms, slower than 20 ms here"])
        let many = LaunchFigure(firsts: uses + uses + uses + uses + uses, whole: [launch()])
        #expect(many.slowest.name == "p99 of 200" && many.slowest.ms == 50)
    }

    @Test func `is of an app as it was that is launched as often as its network lets it`() {
        #expect(LaunchNetwork.healthy.secondsBefore < LaunchNetwork.threeG.secondsBefore)
        #expect(LaunchNetwork.blackhole.secondsBefore > 24)
    }

    @Test func `has a bill that is the difference of two`() {
        let bill = Bill([detail("users", .runQuery, 31)])
            .minus(Bill([detail("users", .runQuery, 10)]))
        #expect(bill.documents == 21 && bill.rules == 0)
        #expect(bill.reads(by: .runQuery, on: "users") == 21)
        #expect(bill.reads(by: .runAggregationQuery, on: "users") == 0)
    }
}
