import TidemarkModel

/// A query, its rows, its plan and its price.
struct QueryPage: Page {
    let place: DataPlace
    let text: String
    let result: Result?
    let error: String?

    struct Result: Encodable {
        let table: DocumentTable
        /// The computed values, by name.
        let computed: [Computed]
        let plan: [Plan]
        /// The missing index of the query, as an entry of `firestore.indexes.json`.
        let missingIndex: String?
        /// Production's bill for the shown rows.
        let reads: Int
        /// Production's bill for the whole query, which also applies to each start of a listener.
        let predictedReads: Int
        let microseconds: Int64
        /// True if the query's answer grows with its collection.
        let isUnbounded: Bool
        let code: [QueryCode.Text]

        struct Plan: Encodable {
            let scope: String
            let properties: String
        }

        struct Computed: Encodable {
            let name: String
            let value: String
        }
    }

    var title: String { "Query" }
    var section: Section { .query }

    private enum CodingKeys: String, CodingKey { case place, text, result, error }

    @HTMLBuilder var body: HTML {
        Tag.form(.class("query"), .action(PagePath(address)), .role("search")) {
            Tag.label(.for("q")) { "Query" }
            Tag.input(
                .id("q"), .name("q"), .type(.search), .value(text), .noSpelling, .autofocus,
                .placeholder(#"rooms/blue/messages where n >= 3 order by n desc limit 50"#))
            Tag.button(.type(.submit)) { "Run" }
        }
        Tag.details {
            Tag.summary { "Examples" }
            Tag.pre { Tag.code { Self.examples } }
        }
        if let error { Tag.p(.role("alert")) { error } }
        if let result { show(result) }
    }

    private static let examples = """
        rooms/blue/messages where n >= 3 and (owner == "ann" or owner == "bob") order by n desc limit 50
        **/messages where sentAt > timestamp "2026-11-24T10:00:00Z" limit 20
        users where friend == ref "users/bob"
        items where tags array-contains "new" order by n start after [7] limit 10
        count, sum of stars, average of stars of rooms/blue/messages where owner == "ann"
        items nearest embedding to [0.1, 0.2] by cosine limit 5
        """

    private var address: [String] {
        ["query", place.database.project, place.database.database]
    }

    @HTMLBuilder private func show(_ result: Result) -> HTML {
        Tag.dl(.class("figures")) {
            if result.computed.isEmpty {
                Tag.dt { "Documents" }
                Tag.dd { result.table.rows.count.grouped }
            }
            for computed in result.computed {
                Tag.dt { computed.name }
                Tag.dd { Tag.bdi { computed.value } }
            }
            Tag.dt { "Reads billed in production" }
            Tag.dd { result.reads.grouped }
            Tag.dt { "Reads for the full result" }
            Tag.dd { result.predictedReads.grouped }
            Tag.dt { "Time" }
            Tag.dd { "\(Double(result.microseconds) / 1_000) ms" }
            Tag.dt { "Indexes" }
            Tag.dd {
                result.plan.map { "\($0.scope) \($0.properties)" }.joined(separator: "; ")
            }
        }
        if result.isUnbounded {
            Tag.p(.role("note"), .class("advice")) {
                """
                This query has no limit and no filter. A listener with it costs one read per \
                document of the collection each time it starts. Add a limit, or use a feed.
                """
            }
        }
        if let missing = result.missingIndex {
            Tag.p(.role("note"), .class("advice")) {
                """
                In production this query needs a composite index. Add it to \
                firestore.indexes.json:
                """
            }
            Tag.pre { Tag.code { missing } }
        }
        if result.computed.isEmpty { result.table.html(place) }
        for code in result.code {
            Tag.details {
                Tag.summary { "In \(code.language)" }
                Tag.pre { Tag.code { code.text } }
            }
        }
    }
}
