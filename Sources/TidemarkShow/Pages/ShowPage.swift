import ExampleKit
import Foundation
import Tidemark
import TidemarkConsole
import TidemarkPhones

/// The page, a pure function of a show's state. A part is sent again when it changes.
enum ShowPage {
    /// The price of 100,000 reads that the journeys use, in US dollars.
    static let price = ReadPrices.journeys.per100000

    /// Returns the parts with their ids, in the page's order.
    static func parts(_ state: ShowState) -> [(id: String, html: HTML)] {
        [
            ("story", StoryPart.html(state)),
            ("phone-before", PhonePart.html(state, .before)),
            ("phone-after", PhonePart.html(state, .after)),
            ("world", WorldPart.html(state)),
            ("figures", FiguresPart.html(state)),
            ("timeline", TimelinePart.html(state)),
        ]
    }

    /// Returns the parts for the page's script: their HTML by id.
    static func json(_ state: ShowState) -> String {
        var texts: [String: String] = [:]
        for part in parts(state) { texts[part.id] = part.html.rendered }
        return String(decoding: JSONLine.encode(texts).dropLast(), as: UTF8.self)
    }

    static func document(_ state: ShowState) -> [UInt8] {
        Shell.document(
            title: state.app.title + " · the show", style: "/assets/show.css",
            script: "/assets/show.js", body: body(state))
    }

    @HTMLBuilder static func body(_ state: ShowState) -> HTML {
        let parts = Dictionary(uniqueKeysWithValues: parts(state).map { ($0.id, $0.html) })
        Tag.header {
            Tag.strong { "Tidemark" }
            Tag.nav(.label("Apps")) {
                for app in state.apps {
                    Button.order(
                        app.title, OrderForm("app", id: app.id), id: "app-\(app.id)",
                        isPressed: app.id == state.app.name)
                }
            }
        }
        Tag.main {
            parts["story"] ?? HTML()
            Tag.div(.class("stage")) {
                parts["phone-before"] ?? HTML()
                parts["phone-after"] ?? HTML()
                Tag.div(.class("side")) {
                    parts["world"] ?? HTML()
                    parts["figures"] ?? HTML()
                }
            }
            parts["timeline"] ?? HTML()
        }
        Tag.output(.id("status"), .live)
    }
}

/// A button that sends an order.
enum Button {
    static func order(
        _ title: String, _ form: OrderForm, id: String, class names: String = "",
        keys: String? = nil, isPressed: Bool? = nil, isEnabled: Bool = true, label: String? = nil
    ) -> HTML {
        var attributes: [Attribute] = [.type(.button), .id(id), .data(.order, json(form))]
        if !names.isEmpty { attributes.append(.class(names)) }
        if let isPressed { attributes.append(.pressed(isPressed)) }
        if let label { attributes.append(.label(label)) }
        if let keys { attributes.append(.keys(keys)) }
        if !isEnabled { attributes.append(.disabled) }
        return Tag.button.with(attributes) {
            title
            if let keys { Tag.kbd { keys } }
        }
    }

    static func json(_ form: OrderForm) -> String {
        String(decoding: JSONLine.encode(form).dropLast(), as: UTF8.self)
    }
}

/// Figures in a readable form.
enum Words {
    static func milliseconds(_ value: Double) -> String {
        value < 1_000
            ? String(format: "%.0f ms", value) : String(format: "%.1f s", value / 1_000)
    }

    static func bytes(_ count: Int) -> String {
        switch count {
        case ..<1_000: "\(count) B"
        case ..<1_000_000: String(format: "%.1f kB", Double(count) / 1_000)
        default: String(format: "%.1f MB", Double(count) / 1_000_000)
        }
    }

    static func dollars(_ value: Double) -> String {
        value >= 100
            ? "$" + count(Int(value.rounded()))
            : value >= 1 || value == 0
                ? String(format: "$%.2f", value) : String(format: "$%.4f", value)
    }

    /// Returns the number with commas between thousands.
    static func count(_ value: Int) -> String {
        var digits = Array(String(abs(value)))
        var index = digits.count - 3
        while index > 0 {
            digits.insert(",", at: index)
            index -= 3
        }
        return (value < 0 ? "-" : "") + String(digits)
    }

    static func age(_ seconds: Double) -> String {
        switch seconds {
        case ..<60: "\(Int(seconds)) s"
        case ..<3_600: "\(Int(seconds / 60)) min"
        case ..<172_800: "\(Int(seconds / 3_600)) h"
        default: "\(Int(seconds / 86_400)) days"
        }
    }
}
