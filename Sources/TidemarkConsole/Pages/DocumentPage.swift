import Foundation
import TidemarkModel

/// The page of a document: its fields with their types, its JSON to edit, and its subcollections.
struct DocumentPage: Page {
    let place: DataPlace
    /// The document; nil if it did not exist at that time.
    let document: Document?
    let collections: [CollectionSummary]
    let tree: DataTree

    var title: String { place.path.last ?? "" }
    var section: Section { .data }

    private enum Key: String, CodingKey {
        case place, exists, createTime, updateTime, collections
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(place, forKey: .place)
        try container.encode(document != nil, forKey: .exists)
        try container.encode(collections, forKey: .collections)
        guard let document else { return }
        try container.encode(document.createTime.rfc3339, forKey: .createTime)
        try container.encode(document.updateTime.rfc3339, forKey: .updateTime)
        try FieldsJSON(document.fields).encode(to: encoder)
    }

    @HTMLBuilder var body: HTML {
        place.breadcrumbs
        Tag.div(.class("split")) {
            tree.html(place)
            Tag.div { content }
        }
    }

    @HTMLBuilder private var content: HTML {
        if place.time == nil, document != nil {
            Tools(
                place: place,
                names: [
                    (.copy, "Copy"), (.rename, "Rename"), (.erase, "Delete"),
                    (.eraseBelow, "Delete with subcollections"),
                ]
            ).html
        }
        Tag.section(.data(.part, "live"), .data(.key, "data")) { shown }
        if place.time == nil { editor }
        Tag.h2 { "Subcollections" }
        CollectionList(place: place, collections: collections).html
    }

    /// The part of the page that is loaded again after changes. An unsaved edit remains.
    @HTMLBuilder private var shown: HTML {
        if let document {
            Tag.dl(.class("times")) {
                Tag.dt { "Created" }
                Tag.dd { time(document.createTime) }
                Tag.dt { "Changed" }
                Tag.dd { time(document.updateTime) }
            }
            fields(document.fields)
        } else {
            Tag.p(.role("note")) { "This document does not exist." }
        }
    }

    private func time(_ time: Timestamp) -> HTML {
        Tag.time(.datetime(time.rfc3339)) { time.rfc3339 }
    }

    @HTMLBuilder private func fields(_ fields: MapValue) -> HTML {
        Tag.table(.class("fields")) {
            Tag.caption { "Fields" }
            Tag.thead {
                Tag.tr {
                    Tag.th(.scope("col")) { "Field" }
                    Tag.th(.scope("col")) { "Type" }
                    Tag.th(.scope("col")) { "Value" }
                }
            }
            Tag.tbody { for entry in fields.entries { rows(entry.key, entry.value, depth: 0) } }
        }
    }

    /// The limits of the table: the depth of values, and the number of values in a map. The JSON
    /// contains all values.
    private static let (maxDepth, maxRows) = (4, 500)

    private func rows(_ name: String, _ value: Value, depth: Int) -> HTML {
        let text = ValueText(value, limit: 2_000)
        let row = Tag.tr {
            Tag.th(.scope("row"), .class("depth\(depth)")) { Tag.bdi { name } }
            Tag.td { text.kind }
            Tag.td(.class("value")) { Tag.bdi(.ownDirection) { text.text } }
        }
        guard depth < Self.maxDepth else { return row }
        switch value {
        case .map(let map):
            let inner = map.entries.prefix(Self.maxRows)
            return HTML([row] + inner.map { rows($0.key, $0.value, depth: depth + 1) })
        case .array(let values):
            let inner = values.prefix(Self.maxRows).enumerated()
            return HTML([row] + inner.map { rows("[\($0)]", $1, depth: depth + 1) })
        default: return row
        }
    }

    /// The document in Firestore's REST form, in which every type is explicit. Saving needs the
    /// script.
    private var editor: HTML {
        let encoder = JSONValueEncoder(isPretty: true, isSorted: true)
        let bytes = try? encoder.encode(FieldsJSON(document?.fields ?? MapValue()))
        let text = String(decoding: bytes ?? [], as: UTF8.self)
        let lines = text.utf8.count { $0 == UInt8(ascii: "\n") } + 2
        return Tag.form(
            .class("editor"), .data(.part, "editor"),
            .data(.path, place.path.joined(separator: "/")),
            .data(.key, PagePath([place.database.project, place.database.database]).text),
            .data(.update, document?.updateTime.rfc3339 ?? "")
        ) {
            Tag.label(.for("json")) {
                document == nil ? "A new document, as JSON" : "The document as JSON"
            }
            Tag.textarea(.id("json"), .rows(min(lines, 40)), .noSpelling) { text }
            Tag.p {
                Tag.button(.type(.submit)) { document == nil ? "Create" : "Save" }
                Tag.button(.type(.button), .class("plain"), .data(.part, "stage"), .hidden) {
                    "Stage"
                }
                Tag.output(.live)
            }
        }
    }
}
