import TidemarkModel

/// The query bar and the pipeline bar, with examples.
struct QueryBars {
    let place: DataPlace
    var query = ""
    var pipeline = ""

    @HTMLBuilder var html: HTML {
        Tag.form(.class("query"), .action(address), .role("search")) {
            Tag.label(.for("q")) { "Query" }
            Tag.input.with(
                [
                    .id("q"), .name("q"), .type(.search), .value(query), .noSpelling,
                    .placeholder(#"rooms/blue/messages where n >= 3 order by n desc limit 50"#),
                ] + (pipeline.isEmpty ? [.autofocus] : []))
            Tag.button(.type(.submit)) { "Run" }
        }
        Tag.form(.class("query"), .action(address), .role("search"), .data(.part, "pipeline")) {
            Tag.label(.for("pipeline")) { "Pipeline" }
            Tag.textarea(.id("pipeline"), .name("pipeline"), .rows(rows), .noSpelling) { pipeline }
            Tag.p(.class("tools")) {
                Tag.button(.type(.submit)) { "Run the pipeline" }
                Tag.select(.label("Add a stage"), .hidden) {
                    Tag.option(.value("")) { "Add a stage" }
                    for stage in PipelineText.templates {
                        Tag.option(.value(stage.text)) { stage.name }
                    }
                }
            }
        }
        Tag.details {
            Tag.summary { "Examples" }
            Tag.pre { Tag.code { Self.examples } }
            Tag.pre { Tag.code { Self.pipelines } }
        }
    }

    private var address: PagePath {
        PagePath(["query", place.database.project, place.database.database])
    }

    /// The rows of the pipeline's field: its lines, or its stages.
    private var rows: Int {
        min(12, max(3, pipeline.split(whereSeparator: { $0.isNewline || $0 == "|" }).count))
    }

    private static let examples = """
        rooms/blue/messages where n >= 3 and (owner == "ann" or owner == "bob") order by n desc limit 50
        **/messages where sentAt > timestamp "2026-11-24T10:00:00Z" limit 20
        users where friend == ref "users/bob"
        items where tags array-contains "new" order by n start after [7] limit 10
        count, sum of stars, average of stars of rooms/blue/messages where owner == "ann"
        items nearest embedding to [0.1, 0.2] by cosine limit 5
        """

    private static let pipelines = """
        **/messages | where isRead == false | aggregate count() as unread by owner | sort unread desc
        items | select name, price * 2 as double | where double > 10 | limit 5
        items | unnest tags as tag | aggregate count() as items, average(price) as price by tag
        rooms | let document_id(__name__) as id | select name, \
        scalar(from **/messages | where room == $id | aggregate count() as n) as messages
        items | where to_lower(name) in ["lamp", "desk"] | union (from archive | limit 3)
        """
}
