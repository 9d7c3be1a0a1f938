import ExampleKit
import TidemarkConsole
import TidemarkPhones

/// A row of a screen as HTML.
enum RowPart {
    static func html(_ row: Row, _ side: PhoneSide) -> HTML {
        Tag.li(.class(classes(row))) {
            if row.isTappable {
                let form = OrderForm("tap", side: side, id: row.id)
                Tag.button(
                    .type(.button), .class("row"), .data(.order, Button.json(form)),
                    .id("\(side.rawValue)-row-\(row.id)")
                ) { content(row) }
            } else {
                Tag.div(.class("row")) { content(row) }
            }
        }
    }

    private static func classes(_ row: Row) -> String {
        var names: [String]
        switch row.kind {
        case .plain: names = ["plain"]
        case .bubble(let isOwn): names = ["bubble", isOwn ? "own" : "other"]
        case .figure: names = ["figure"]
        case .bars: names = ["figure", "has-bars"]
        case .progress: names = ["figure"]
        case .skeleton: names = ["skeleton"]
        }
        if row.isPending { names.append("pending") }
        if row.isUnread { names.append("unread") }
        return names.joined(separator: " ")
    }

    @HTMLBuilder private static func content(_ row: Row) -> HTML {
        if let picture = row.picture {
            let mark = picture.isLoaded.map { $0 ? " loaded" : " waiting" } ?? ""
            Tag.span(.class("picture tint\(picture.tint)" + mark)) { picture.text }
        }
        Tag.span(.class("words")) {
            if let file = row.photo?.jpeg { Tag.img(.class("photo"), .jpeg(file), .alt("Photo")) }
            Tag.span(.class("title")) { Tag.bdi { row.title } }
            if let detail = row.detail { Tag.small { Tag.bdi { detail } } }
            if case .bars(let values) = row.kind { bars(values) }
            if case .progress(let part) = row.kind {
                Tag.progress(.max(1), .value("\(part)"), .label(row.title))
            }
        }
        Tag.span(.class("end")) {
            if let trailing = row.trailing { Tag.span(.class("trailing")) { trailing } }
            if row.isPending { Tag.span(.class("mark")) { "not sent yet" } }
            if let badge = row.badge { Tag.span(.class("badge")) { badge } }
        }
    }

    /// Draws bars, oldest first. The highest bar fills the drawing.
    private static func bars(_ values: [Double]) -> HTML {
        let (width, height) = (Double(max(1, values.count)) * 10, 36.0)
        let top = max(values.max() ?? 0, .leastNonzeroMagnitude)
        return Tag.svg(
            .viewBox(width: width, height: height), .stretched, .role("img"),
            .label(values.map { "\(Int($0))" }.joined(separator: ", "))
        ) {
            for (index, value) in values.enumerated() {
                let size = max(0, value / top * height)
                Tag.rect.with(
                    Attribute.place(
                        x: Double(index) * 10 + 1, y: height - size, width: 8, height: size))
            }
        }
    }
}
