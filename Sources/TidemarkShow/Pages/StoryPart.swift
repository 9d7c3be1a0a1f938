import ExampleKit
import TidemarkConsole
import TidemarkPhones

/// The introduction of the app, and the automatic story.
enum StoryPart {
    @HTMLBuilder static func html(_ state: ShowState) -> HTML {
        Tag.section(.id("story"), .class("story"), .label("Story")) {
            Tag.div(.class("lead")) {
                Tag.h1 { state.app.title }
                Tag.p { state.app.problem }
                Tag.p(.class("promise")) { state.app.promise }
            }
            Tag.div(.class("scene")) { scene(state) }
        }
    }

    @HTMLBuilder private static func scene(_ state: ShowState) -> HTML {
        if state.isRecording {
            Tag.p(.class("note")) {
                """
                This is a recording. Its buttons do nothing.
                """
            }
        }
        if let message = state.message { Tag.p(.role("alert")) { message } }
        switch state.stage {
        case .preparing(let what): Tag.p(.class("caption"), .live) { "The day before: \(what)" }
        case .failed(let why): Tag.p(.role("alert")) { why }
        case .ready:
            if let story = state.story {
                caption(story)
            } else {
                Tag.p(.class("caption"), .live) {
                    "Both phones go through the same day. Play the story, or break things yourself."
                }
            }
        }
        Tag.div(.class("buttons")) {
            if let story = state.story, !story.isOver {
                Button.order("Stop the story", OrderForm("stop"), id: "stop", keys: "p")
            } else {
                Button.order(
                    state.story == nil ? "Play the story" : "Play it again", OrderForm("play"),
                    id: "play", class: "main", keys: "p")
                for network in [Network.threeG, .flaky] {
                    Button.order(
                        "On a bad day: \(network.title)",
                        OrderForm("play", id: network.rawValue), id: "play-\(network.rawValue)")
                }
            }
        }
        if state.story?.isOver == true { EndTable.html(state) }
    }

    @HTMLBuilder private static func caption(_ story: ShowState.Story) -> HTML {
        Tag.p(.class("caption"), .live) {
            story.isOver
                ? "The day is over. Both phones, compared with a full read:" : story.caption
        }
        Tag.progress(
            .label("Scene \(story.scene + 1) of \(story.count)"), .max(Double(story.count)),
            .value("\(story.isOver ? story.count : story.scene)")
        ) { "\(story.scene + 1) of \(story.count)" }
    }
}

/// The table at the end of a story.
enum EndTable {
    static func html(_ state: ShowState) -> HTML {
        Tag.div(.class("scroll"), .focusable, .role("region"), .label("How the day ended")) {
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        for name in columns(state) { Tag.th(.scope("col")) { name } }
                    }
                }
                Tag.tbody { for side in PhoneSide.allCases { row(state, side) } }
            }
        }
    }

    private static func columns(_ state: ShowState) -> [String] {
        [
            "Phone", "Documents billed", "For \(Words.count(state.users)) users a month",
            "Slowest first content", "Opened and saw nothing", "Missing", "Wrong",
        ] + (state.app.photoControl == nil ? [] : ["Photos lost"])
    }

    private static func row(_ state: ShowState, _ side: PhoneSide) -> HTML {
        let phone = state[side]
        let cost = state.monthlyDollars(side, price: ShowPage.price)
        let blank = phone.blank
        return Tag.tr {
            Tag.th(.scope("row")) { side.title }
            Tag.td(.class("number")) { Words.count(phone.reads) }
            Tag.td(.class("number")) { Words.dollars(cost) }
            Tag.td(.class("number")) { phone.slowest.map(Words.milliseconds) ?? "never" }
            Tag.td(.class(blank > 0 ? "number bad" : "number")) { "\(blank) of \(phone.launches)" }
            verdict(phone.comparison.map(\.missing), of: phone.comparison?.count)
            verdict(phone.comparison.map(\.extra), of: nil)
            if state.app.photoControl != nil {
                verdict(phone.missingPhotos, of: phone.chosenPhotos ?? 0)
            }
        }
    }

    private static func verdict(_ count: Int?, of all: Int?) -> HTML {
        Tag.td(.class((count ?? 0) > 0 ? "number bad" : "number")) {
            count.map { all == nil ? "\($0)" : "\($0) of \(all ?? 0)" } ?? "…"
        }
    }
}
