import TidemarkConsole
import TidemarkPhones

/// The calls of both phones in the last minute, with their requests.
enum TimelinePart {
    /// The duration that is drawn, in seconds.
    static let span = 60.0
    private static let rows = 12

    static func html(_ state: ShowState) -> HTML {
        let ends = state.phones.flatMap { $0.calls.map { $0.start + ($0.seconds ?? 0) } }
        let end = max(span, ends.max() ?? 0)
        return Tag.section(.id("timeline"), .class("timeline"), .label("Timeline")) {
            Tag.h2 { "Calls" }
            for side in PhoneSide.allCases {
                Tag.figure {
                    Tag.figcaption {
                        "\(side.title): \(Words.count(state[side].calls.count)) calls"
                    }
                    lane(state[side], until: end)
                }
            }
            Tag.div(.class("lists")) { for side in PhoneSide.allCases { list(state[side]) } }
        }
    }

    /// Draws each call as a bar from its start to its end. Concurrent calls are drawn below each
    /// other.
    private static func lane(_ phone: PhoneState, until end: Double) -> HTML {
        let (width, height) = (600.0, Double(rows) * 5)
        let scale = width / span
        return Tag.svg(
            .viewBox(width: width, height: height), .stretched, .role("img"),
            .label("Calls of the last minute")
        ) {
            for (row, call) in placed(phone.calls) {
                let last = call.start + (call.seconds ?? max(0, end - call.start))
                if last > end - span {
                    let x = max(0, (call.start - (end - span)) * scale)
                    let length = max(2, (last - max(call.start, end - span)) * scale)
                    Tag.rect.with(
                        Attribute.place(
                            x: x, y: Double(row) * 5, width: length, height: 4)
                            + [.class(name(call))]
                    ) { Tag.title { "\(call.method) \(call.asked)" } }
                }
            }
        }
    }

    /// Assigns each call to the first row that is free at its start, or to the last row if none is
    /// free.
    static func placed(_ calls: [PhoneState.Call]) -> [(row: Int, call: PhoneState.Call)] {
        var ends = Array(repeating: -Double.infinity, count: rows)
        return calls.map { call in
            let row = ends.firstIndex { $0 <= call.start } ?? rows - 1
            ends[row] = call.seconds.map { call.start + max($0, 0.2) } ?? .infinity
            return (row, call)
        }
    }

    private static func outcomeClass(_ call: PhoneState.Call) -> String {
        call.outcome == nil ? "waiting" : call.outcome == "OK" ? "ok" : "outcome"
    }

    private static func name(_ call: PhoneState.Call) -> String {
        switch call.outcome {
        case nil: "open"
        case "OK": "ok"
        default: "bad"
        }
    }

    private static func list(_ phone: PhoneState) -> HTML {
        Tag.div(
            .class("scroll"), .focusable, .role("region"), .label("Calls: \(phone.side.title)")
        ) {
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        for name in ["At", "Call", "Request", "Reads", "Time", "Outcome"] {
                            Tag.th(.scope("col")) { name }
                        }
                    }
                }
                Tag.tbody { for call in phone.calls.suffix(rows).reversed() { row(call) } }
            }
        }
    }

    private static func row(_ call: PhoneState.Call) -> HTML {
        Tag.tr {
            Tag.td(.class("number")) { "\(Int(call.start)) s" }
            Tag.td { call.method }
            Tag.td(.class("asked")) { Tag.bdi { call.asked } }
            Tag.td(.class("number")) { Words.count(call.reads) }
            Tag.td(.class("number")) { call.seconds.map { Words.milliseconds($0 * 1_000) } ?? "…" }
            Tag.td(.class(outcomeClass(call))) { call.outcome ?? "open" }
        }
    }
}
