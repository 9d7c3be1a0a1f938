import ExampleKit
import Testing
import Tidemark
import TidemarkPhones

@testable import TidemarkDemo

struct `A launch after the update from FirebaseFirestore` {
    private func screen(_ ids: [String]) -> Screen {
        Screen(
            "Stamps", .fresh,
            sections: [
                Screen.Section(
                    "Newest", ids.map { Row($0, $0).with { $0.isDocument = true } })
            ])
    }

    private func figure(_ ids: [String], reads: Int) -> UpdateFigure {
        var use = PhoneUse()
        use.screens = [.init(screen([]), 80), .init(screen(ids), 90)]
        return UpdateFigure(use, truth: ["b", "a"], billed: PlannedBill(reads: reads))
    }

    @Test func `holds if all stamps are shown for few reads`() {
        let figure = figure(["b", "a"], reads: 6)
        #expect(figure.firstContentMs == 90 && figure.items == 2)
        #expect(figure.wrongs(mostReads: 6).isEmpty)
        #expect(figure.text == "2 items, 6 reads, 90 ms")
        #expect(figure.wrongs(mostReads: 5) == ["6 reads, but the limit is 5"])
    }

    @Test func `fails if the bill is not the prediction`() {
        var figure = figure(["b", "a"], reads: 6)
        var forecast = Forecast()
        forecast.add("changes: 6", PlannedBill(reads: 6))
        figure.predicted = forecast
        #expect(figure.wrongs(mostReads: 6).isEmpty)
        #expect(figure.text == "2 items, 6 reads (predicted 6 reads), 90 ms")
        forecast.add("the profile", PlannedBill(reads: 1))
        figure.predicted = forecast
        #expect(figure.wrongs(mostReads: 6).first?.hasPrefix("predicted 7 reads") == true)
        figure.predicted = forecast.atMost(because: "the app is killed")
        #expect(figure.wrongs(mostReads: 6).isEmpty)
    }

    @Test func `tells what is missing and what is wrong`() {
        #expect(figure(["b", "c"], reads: 0).wrongs(mostReads: 0) == ["1 stamps missed, 1 wrong"])
        let nothing = figure([], reads: 252)
        #expect(nothing.firstContentMs == nil && nothing.text == "nothing, 252 reads")
        #expect(nothing.wrongs(mostReads: 300) == ["2 stamps missed, 0 wrong"])
    }
}
