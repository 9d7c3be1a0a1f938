import ExampleKit
import TidemarkConsole
import TidemarkPhones

/// A phone with its figures below.
enum PhonePart {
    static func html(_ state: ShowState, _ side: PhoneSide) -> HTML {
        let phone = state[side]
        return Tag.section(.id("phone-\(side.rawValue)"), .class("phone-card"), .label(side.title))
        {
            Tag.h2 { side.title }
            Tag.div(.class("phone")) {
                bar(state)
                Tag.div(.class("glass")) {
                    switch phone.life {
                    case .off: dead("Not running.", side: side, state: state)
                    case .dead(let why): dead(why, side: side, state: state)
                    case .running:
                        if let screen = phone.screen {
                            ScreenPart.html(screen, side)
                        } else {
                            Tag.p(.class("opening")) { "Opening…" }
                        }
                    }
                }
            }
            buttons(phone, side: side, state: state)
            other(phone)
            facts(phone)
        }
    }

    private static func bar(_ state: ShowState) -> HTML {
        Tag.div(.class("bar")) {
            Tag.span { state.isAirplane ? "✈ Airplane" : state.network.title }
        }
    }

    private static func dead(_ why: String, side: PhoneSide, state: ShowState) -> HTML {
        Tag.div(.class("dead")) {
            Tag.p { why }
            Button.order(
                "Open the app", OrderForm("launch", side: side), id: "\(side.rawValue)-open",
                class: "main", isEnabled: state.stage == .ready,
                label: "Open the app: \(side.title)")
        }
    }

    private static func buttons(
        _ phone: PhoneState, side: PhoneSide, state: ShowState
    ) -> HTML {
        let isRunning = phone.life == .running
        let key = side == .before ? "1" : "2"
        return Tag.div(.class("buttons")) {
            Button.order(
                isRunning ? "kill -9" : "Relaunch",
                OrderForm(isRunning ? "kill" : "launch", side: side), id: "\(side.rawValue)-power",
                class: isRunning ? "danger" : "", keys: key, isEnabled: state.stage == .ready,
                label: (isRunning ? "kill -9: " : "Relaunch: ") + side.title)
        }
    }

    /// Shows the phone of the other person.
    @HTMLBuilder private static func other(_ phone: PhoneState) -> HTML {
        if let other = phone.other?.screen {
            Tag.section(
                .class("other-phone"), .role("region"),
                .label("\(other.title): \(phone.side.title)")
            ) {
                Tag.h3 { Tag.bdi { other.title } }
                let rows = other.sections.flatMap(\.rows)
                if rows.isEmpty { Tag.p { "Nothing has arrived yet." } }
                Tag.ul { for row in rows { RowPart.html(row, phone.side) } }
            }
        }
    }

    @HTMLBuilder private static func facts(_ phone: PhoneState) -> HTML {
        Tag.dl(.class("facts")) {
            Tag.dt { "First content" }
            Tag.dd(.class("number")) { firstContent(phone) }
            Tag.dt { "State" }
            Tag.dd { phone.screen.map { stateText($0.state) } ?? "the screen is empty" }
        }
        Tag.details(.class("plan")) {
            Tag.summary { "Reads of the next launch" }
            Tag.ul {
                for line in phone.plan { Tag.li { line } }
                if phone.plan.isEmpty { Tag.li { "Not known yet." } }
            }
        }
    }

    private static func firstContent(_ phone: PhoneState) -> String {
        guard let last = phone.firstContent.last else { return "–" }
        if let last { return Words.milliseconds(last) }
        return phone.life == .running ? "waiting…" : "never"
    }

    static func stateText(_ state: Screen.State) -> String {
        switch state {
        case .loading: "loading"
        case .fresh: "fresh"
        case .quiet: "age unknown"
        case .stale(let age, let reason):
            "stale" + (age.map { ", \(Words.age($0)) old" } ?? "") + ": \(reason)"
        case .failed(let reason, let wayOut):
            "failed: \(reason)" + (wayOut == nil ? " No button to continue." : "")
        case .empty(let text): text
        }
    }
}

/// A screen of an app as HTML.
enum ScreenPart {
    static func html(_ screen: Screen, _ side: PhoneSide) -> HTML {
        Tag.div(.class("screen")) {
            Tag.h3 { Tag.bdi { screen.title } }
            stateLine(screen.state)
            Tag.div(.class("rows"), .focusable, .role("region"), .label("Screen: \(side.title)")) {
                for section in screen.sections {
                    if let title = section.title { Tag.h4(title) }
                    Tag.ul { for row in section.rows { RowPart.html(row, side) } }
                }
            }
            Tag.div(.class("controls")) {
                for control in screen.controls { drawn(control, side) }
            }
        }
    }

    @HTMLBuilder private static func stateLine(_ state: Screen.State) -> HTML {
        switch state {
        case .loading: Tag.p(.class("state loading")) { "Loading…" }
        case .fresh: Tag.p(.class("state fresh")) { "Up to date" }
        case .quiet: HTML()
        case .stale(let age, let reason):
            Tag.p(.class("state stale")) {
                (age.map { "As of \(Words.age($0)) ago. " } ?? "") + reason
            }
        case .failed(let reason, _): Tag.p(.class("state failed")) { reason }
        case .empty(let text): Tag.p(.class("state empty")) { text }
        }
    }

    private static func drawn(_ control: Control, _ side: PhoneSide) -> HTML {
        let id = "\(side.rawValue)-\(control.id)"
        let form = OrderForm("tap", side: side, id: control.id)
        switch control.kind {
        case .button(let isMain):
            return Button.order(
                control.title, form, id: id, class: isMain ? "main" : "",
                isEnabled: control.isEnabled, label: "\(control.title): \(side.title)")
        case .field(let placeholder, let button):
            return field(control, side: side, placeholder: placeholder, button: button)
        case .search(let placeholder):
            return field(control, side: side, placeholder: placeholder, button: nil)
        }
    }

    /// Returns a form that sends its text as an order. A search sends it at each change.
    private static func field(
        _ control: Control, side: PhoneSide, placeholder: String, button: String?
    ) -> HTML {
        let id = "\(side.rawValue)-\(control.id)"
        let order = Button.json(OrderForm("tap", side: side, id: control.id))
        return Tag.form(
            .data(.order, order), .data(.key, button == nil ? "search" : "field"),
            .id(id + "-form")
        ) {
            Tag.input(
                .id(id), .type(button == nil ? .search : .text), .placeholder(placeholder),
                .noCompletion, .label("\(control.title): \(side.title)"))
            if let button {
                Tag.button(
                    .type(.submit), .id(id + "-send"), .label("\(button): \(side.title)")
                ) { button }
            }
        }
    }
}

extension Tag {
    /// Returns a small heading within a phone.
    fileprivate static func h4(_ text: String) -> HTML {
        Tag.p(.class("heading")) { Tag.bdi { text } }
    }
}
