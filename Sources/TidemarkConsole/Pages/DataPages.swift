import TidemarkModel

/// The place of a data page: a database, a path in it, and the time of the read.
struct DataPlace: Hashable, Sendable, Encodable {
    let database: DatabaseID
    /// The segments of a collection or a document; empty for the root.
    let path: [String]
    /// The time of the read; nil for the present.
    let time: Timestamp?

    private enum Key: String, CodingKey { case project, database, path, time }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(database.project, forKey: .project)
        try container.encode(database.database, forKey: .database)
        try container.encode(path.joined(separator: "/"), forKey: .path)
        try container.encodeIfPresent(time?.rfc3339, forKey: .time)
    }

    var consistency: ReadConsistency { time.map { .at($0) } ?? .latest }

    func address(_ path: [String]? = nil, asData: Bool = false) -> PagePath {
        let segments =
            [asData ? "data.json" : "data", database.project, database.database]
            + (path ?? self.path)
        return PagePath(segments, time.map { [("at", $0.rfc3339)] } ?? [])
    }

    /// The address of the changes below this place, or of a document's versions.
    private var historyAddress: PagePath {
        PagePath(["history", database.project, database.database] + path)
    }

    private var timesAddress: String {
        PagePath(["history.json", database.project, database.database], [("times", "1")]).text
    }

    /// Links to the place and to every place above it, and the form for a time in the past.
    @HTMLBuilder var breadcrumbs: HTML {
        Tag.nav(.class("crumbs"), .label("Path")) {
            Tag.a(.href(address([]))) { "\(database.project) / \(database.database)" }
            for index in path.indices {
                HTML(" / ")
                Tag.a(.href(address(Array(path[...index])))) { Tag.bdi { path[index] } }
            }
        }
        Tag.form(.class("moment"), .action(PagePath(address().segments))) {
            Tag.label(.for("at")) { "As of" }
            Tag.input(
                .id("at"), .name("at"), .type(.text), .placeholder("now, or 2026-11-24T10:00:00Z"),
                .value(time?.rfc3339 ?? ""))
            Tag.button(.type(.submit)) { "Show" }
            Tag.a(.href(historyAddress)) { "What changed" }
        }
        Tag.p(
            .class("slider"), .data(.part, "slider"), .data(.source, timesAddress), .hidden
        ) {
            Tag.label(.for("moment")) { "Moment" }
            Tag.input(.id("moment"), .type(.range))
            Tag.output(.for("moment"))
        }
        if time != nil {
            Tag.p(.class("past"), .role("note")) {
                "You see a past version. "
                Tag.a(.href(PagePath(address().segments))) { "Show the current version" }
            }
        }
    }
}

/// The page of the server's databases.
struct DatabasesPage: Page {
    let databases: [Name]
    var title: String { "Databases" }
    var section: Section { .data }

    struct Name: Codable {
        let project: String
        let database: String
    }

    private enum CodingKeys: String, CodingKey { case databases }

    @HTMLBuilder var body: HTML {
        if databases.isEmpty {
            Tag.p { "There is no data yet. Connect a client to this server and write a document." }
        }
        Tag.ul(.class("list")) {
            for name in databases {
                Tag.li {
                    Tag.a(.href(PagePath(["data", name.project, name.database]))) {
                        "\(name.project) / \(name.database)"
                    }
                }
            }
        }
    }
}

/// The page of a database's root collections.
struct RootPage: Page {
    let place: DataPlace
    let collections: [CollectionSummary]
    var title: String { place.database.project }
    var section: Section { .data }

    private enum CodingKeys: String, CodingKey { case place, collections }

    @HTMLBuilder var body: HTML {
        place.breadcrumbs
        Tools(place: place, names: [(.create, "New document"), (.paste, "Paste documents")]).html
        Tag.section(.data(.part, "live"), .data(.key, "data")) {
            CollectionList(place: place, collections: collections).html
        }
    }
}

/// Links to collections, with the number of documents in each.
struct CollectionList {
    let place: DataPlace
    let collections: [CollectionSummary]

    @HTMLBuilder var html: HTML {
        if collections.isEmpty { Tag.p { "There are no collections here." } }
        Tag.ul(.class("list")) {
            for collection in collections {
                let segments = collection.path.split(separator: "/").map(String.init)
                Tag.li {
                    Tag.a(.href(place.address(segments))) {
                        Tag.bdi { segments.last ?? "" }
                    }
                    Tag.small { Self.text(collection.documents) }
                }
            }
        }
    }

    private static func text(_ count: Int64) -> String {
        if count > DataReader.countLimit {
            return "over \(DataReader.countLimit.grouped) documents"
        }
        return count == 1 ? "1 document" : "\(count.grouped) documents"
    }
}

/// A page of a collection, as a table.
struct CollectionPage: Page {
    let place: DataPlace
    let table: DocumentTable
    /// The start of the next page; empty on the last page.
    let next: String
    let tree: DataTree
    var title: String { place.path.joined(separator: "/") }
    var section: Section { .data }

    private enum CodingKeys: String, CodingKey { case place, table, next, tree }

    var fetches: [PagePath] { table.rows.isEmpty ? [] : [firstRowsAddress] }

    @HTMLBuilder var body: HTML {
        place.breadcrumbs
        Tag.div(.class("split")) {
            tree.html(place)
            Tag.div { content }
        }
    }

    @HTMLBuilder private var content: HTML {
        Tag.p {
            Tag.a(
                .href(
                    PagePath(
                        ["query", place.database.project, place.database.database],
                        [("q", place.path.joined(separator: "/") + " limit 50")]))
            ) { "Query this collection" }
        }
        if place.time == nil {
            Tools(
                place: place,
                names: [
                    (.create, "New document"), (.paste, "Paste documents"),
                    (.eraseBelow, "Delete the collection"),
                ]
            ).html
        }
        Tag.section(
            .data(.part, "grid"), .data(.source, rowsAddress.text),
            .data(.first, firstRowsAddress.text), .data(.path, place.address().text),
            .data(.key, place.time == nil ? "live" : "past")
        ) {
            table.html(place)
            if !next.isEmpty {
                Tag.p {
                    Tag.a(.href(place.address().with("page", next))) {
                        "Next \(DataReader.pageSize)"
                    }
                }
            }
        }
    }

    private var rowsAddress: PagePath {
        let segments = ["rows", place.database.project, place.database.database] + place.path
        return PagePath(segments, place.address().query)
    }

    /// The address of the rows on the table's first page.
    private var firstRowsAddress: PagePath {
        var address = rowsAddress
        address.query += table.columns.map { ("column", $0) }
        return address
    }
}

extension BinaryInteger {
    /// The number with a narrow space between groups of three digits: `11 003`.
    var grouped: String {
        let digits = String(magnitude)
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { result += "\u{202F}" }
            result.append(digit)
        }
        return (self < 0 ? "-" : "") + result
    }
}
