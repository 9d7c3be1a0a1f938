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
        QueryBars(place: place, query: text).html
        if let error { Tag.p(.role("alert")) { error } }
        if let result { show(result) }
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
        QueryCode.Text.html(result.code)
    }
}

extension QueryCode.Text {
    /// Shows the same code in several languages, each folded.
    @HTMLBuilder static func html(_ codes: [QueryCode.Text]) -> HTML {
        for code in codes {
            Tag.details {
                Tag.summary { "In \(code.language)" }
                Tag.pre { Tag.code { code.text } }
            }
        }
    }
}
