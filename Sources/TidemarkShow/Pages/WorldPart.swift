import ExampleKit
import TidemarkConsole
import TidemarkPhones

/// The controls outside the phones: network, other people, the second device, the clock.
enum WorldPart {
    static func html(_ state: ShowState) -> HTML {
        Tag.section(.id("world"), .class("card"), .label("World")) {
            Tag.h2 { "Network" }
            Tag.div(.class("choices"), .role("group"), .label("Network")) {
                for (index, network) in Network.allCases.enumerated() {
                    Button.order(
                        network.title, OrderForm("network", id: network.rawValue),
                        id: "network-\(network.rawValue)", keys: "n \(index + 1)",
                        isPressed: network == state.network && !state.isAirplane)
                }
                Button.order(
                    "Airplane mode", OrderForm("airplane"), id: "airplane", keys: "a",
                    isPressed: state.isAirplane)
            }
            Tag.h2 { "Other people" }
            Tag.div(.class("choices"), .role("group"), .label("Other people")) {
                Button.order(
                    "Do one thing", OrderForm("others", number: 1), id: "others", keys: "o")
                for rate in [0, 6, 60] {
                    Button.order(
                        rate == 0 ? "Quiet" : "\(rate) per minute",
                        OrderForm("rate", number: Double(rate)), id: "rate-\(rate)",
                        isPressed: state.rate == rate)
                }
                Tag.small { "\(Words.count(state.written)) so far" }
            }
            if !state.app.acts.isEmpty { second(state) }
            Tag.h2 { "Clock" }
            Tag.div(.class("choices"), .role("group"), .label("Clock")) {
                for (name, seconds) in [
                    ("1 hour later", 3_600.0), ("1 day later", 86_400), ("1 week later", 604_800),
                ] {
                    Button.order(
                        name, OrderForm("clock", number: seconds), id: "clock-\(Int(seconds))")
                }
                if state.clock > 0 { Tag.small { "\(Words.age(state.clock)) ahead" } }
            }
        }
    }

    @HTMLBuilder private static func second(_ state: ShowState) -> HTML {
        Tag.h2 { "The user's second device" }
        Tag.div(.class("choices"), .role("group"), .label("Second device")) {
            for act in state.app.acts {
                Button.order(act.title, OrderForm("second", id: act.id), id: "second-\(act.id)")
            }
        }
    }
}

/// The costs of both phones.
enum FiguresPart {
    static func html(_ state: ShowState) -> HTML {
        Tag.section(.id("figures"), .class("card"), .label("Figures")) {
            Tag.h2 { "This day" }
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        Tag.th(.scope("col")) { "Figure" }
                        for side in PhoneSide.allCases { Tag.th(.scope("col")) { side.title } }
                    }
                }
                Tag.tbody {
                    row("Documents billed", state: state) { Words.count($0.reads) }
                    row("Dollars", state: state) {
                        Words.dollars(Double($0.reads) / 100_000 * ShowPage.price)
                    }
                    row("Per month, all users", state: state) {
                        Words.dollars(state.monthlyDollars($0.side, price: ShowPage.price))
                    }
                    row("Bytes", state: state) { Words.bytes($0.bytes) }
                    row("Slowest first content", state: state) {
                        $0.slowest.map(Words.milliseconds) ?? "–"
                    }
                    row("Opened and saw nothing", state: state) { "\($0.blank) of \($0.launches)" }
                    row("Compared with a full read", state: state) { comparison($0.comparison) }
                }
            }
            Tag.form(
                .data(.order, Button.json(OrderForm("users"))), .data(.key, "number"),
                .id("users-form")
            ) {
                Tag.label(.for("users")) { "Users" }
                Tag.input(
                    .id("users"), .type(.number), .value("\(state.users)"), .noCompletion)
                Tag.button(.type(.submit), .id("users-send")) { "Set" }
                Button.order(
                    "Compare now", OrderForm("compare"), id: "compare", keys: "c")
            }
            Tag.small {
                """
                Price: $\(ShowPage.price) for 100,000 reads. Each user's day costs as much \
                as this day.
                """
            }
        }
    }

    private static func row(
        _ name: String, state: ShowState, figure: (PhoneState) -> String
    ) -> HTML {
        Tag.tr {
            Tag.th(.scope("row")) { name }
            for side in PhoneSide.allCases { Tag.td(.class("number")) { figure(state[side]) } }
        }
    }

    private static func comparison(_ found: PhoneState.Comparison?) -> String {
        guard let found else { return "–" }
        if found.missing + found.extra == 0 { return "all \(found.count) shown" }
        return "\(found.missing) missing, \(found.extra) wrong"
    }
}
