import ExampleKit
import Foundation
import Testing
import TidemarkModel
import TidemarkPhones
import TidemarkServer

@testable import TidemarkDemo

@Suite struct `What a launch comes to` {
    /// As the server's meter tells it.
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

    /// Stamp `b` is new; its picture comes 430 ms later, and the one of `a` is on the disk.
    private func launch(isReached: Bool = true) -> WholeLaunch {
        var use = PhoneUse()
        use.begins = 90
        use.sights = [
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
        #expect(LaunchNetwork.allCases.allSatisfy(figure.holds))
    }

    @Test func `tells a figure that some launch did not come to`() {
        var never = launch().use
        never.sights.removeLast(4)
        let other = WholeLaunch(
            use: never, truth: ["b", "a"], bill: Bill([]), isReached: true, fromNetwork: [])
        let figure = LaunchFigure(firsts: [], whole: [launch(), other])
        #expect(figure.firstContentMs == 100 && figure.firstContentP99Ms == nil)
        #expect(figure.liveWorstMs == nil && figure.missed == 2)
        #expect(figure.shown == "a loading screen" && !figure.isUsable)
    }

    @Test func `is not live where nobody answers, whatever the app says`() {
        #expect(LaunchFigure(firsts: [], whole: [launch(isReached: false)]).liveMs == nil)
    }

    @Test func `does not hold with a picture that is late, a stamp that is missed, no way on`() {
        func broken(_ change: (inout LaunchFigure) -> Void) -> [LaunchNetwork] {
            var figure = figure()
            change(&figure)
            return LaunchNetwork.allCases.filter { !figure.holds(on: $0) }
        }
        #expect(broken { $0.pictureMs = 501 } == [.threeG])
        #expect(broken { $0.pictureWorstMs = 1_301 } == [.threeG])
        #expect(broken { $0.missed = 1 } == [.healthy, .threeG])
        #expect(broken { $0.liveWorstMs = nil } == [.healthy, .threeG])
        #expect(broken { $0.completeMs = nil } == [.healthy, .threeG])
        #expect(broken { $0.overDeadlineMs = 51 } == LaunchNetwork.allCases)
        #expect(broken { $0.isUsable = false } == LaunchNetwork.allCases)
        #expect(broken { $0.items = 0 } == LaunchNetwork.allCases)
        #expect(broken { $0.firstContentP99Ms = nil } == LaunchNetwork.allCases)
    }

    @Test func `has a bill that is the difference of two`() {
        let bill = Bill([detail("users", .runQuery, 31)])
            .minus(Bill([detail("users", .runQuery, 10)]))
        #expect(bill.documents == 21 && bill.rules == 0)
        #expect(bill.reads(by: .runQuery, on: "users") == 21)
        #expect(bill.reads(by: .runAggregationQuery, on: "users") == 0)
    }
}
