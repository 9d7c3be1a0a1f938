import TidemarkModel

/// A pipeline, its rows, its stages and its price.
struct PipelinePage: Page {
    let place: DataPlace
    let text: String
    let result: Result?
    let error: String?
    /// The same pipeline as code; empty if the text is no pipeline.
    let code: [QueryCode.Text]

    struct Result: Encodable {
        let table: DocumentTable
        /// The number of all rows, of which the table has the first.
        let rows: Int
        let figures: PipelineFigures
    }

    var title: String { "Query" }
    var section: Section { .query }

    private enum CodingKeys: String, CodingKey { case place, text, result, error, code }

    @HTMLBuilder var body: HTML {
        QueryBars(place: place, pipeline: text).html
        if let error { Tag.p(.role("alert")) { error } }
        if let result { show(result) }
        QueryCode.Text.html(code)
    }

    @HTMLBuilder private func show(_ result: Result) -> HTML {
        let run = result.figures.execution
        Tag.dl(.class("figures")) {
            Tag.dt { "Rows" }
            Tag.dd { result.rows.grouped }
            Tag.dt { "Documents read" }
            Tag.dd { "\(run.documentsRead.grouped), \(run.bytesRead.grouped) bytes" }
            Tag.dt { "Read units" }
            Tag.dd { run.readUnits.grouped }
            Tag.dt { "Price of a million runs" }
            Tag.dd { "$\(price(of: run)) (Enterprise edition, us-central1)" }
            Tag.dt { "Time" }
            Tag.dd { "\(run.milliseconds) ms" }
        }
        stages(result.figures.stages)
        if let note = result.figures.indexNote {
            Tag.p(.role("note"), .class("advice")) { note }
        }
        if result.rows > result.table.rows.count {
            Tag.p { "The first \(result.table.rows.count.grouped) rows:" }
        }
        result.table.html(place, isOfDocuments: false)
    }

    private func price(of run: PipelineFigures.Execution) -> Double {
        let prices = UnitPrices.table["us-central1"]!
        let units = BilledUnits(read: run.readUnits * 1_000_000)
        return (prices.cost(of: units) * 100).rounded() / 100
    }

    private func stages(_ stages: [PipelineFigures.Stage]) -> HTML {
        let longest = max(0.001, stages.map { $0.milliseconds ?? 0 }.max() ?? 0)
        return Tag.div(.class("scroll"), .focusable, .role("region"), .label("Stages")) {
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        for name in ["Stage", "Rows", "Time", "Share of the time", "Way"] {
                            Tag.th(.scope("col")) { name }
                        }
                    }
                }
                Tag.tbody {
                    for stage in stages {
                        let time = stage.milliseconds ?? 0
                        Tag.tr {
                            Tag.th(.scope("row")) { stage.name }
                            Tag.td(.class("number")) { (stage.rows ?? 0).grouped }
                            Tag.td(.class("number")) { "\(time) ms" }
                            Tag.td(
                                .class("bar w\(Int(20 * time / longest))"),
                                .label("share of the longest stage"))
                            Tag.td(.class("value")) { Tag.bdi { stage.detail ?? "" } }
                        }
                    }
                }
            }
        }
    }
}

/// The figures of a run, as the server explains it.
struct PipelineFigures: Codable {
    struct Stage: Codable {
        let name: String
        /// The number of rows that the stage delivered.
        let rows: Int?
        let milliseconds: Double?
        /// The way to the documents, for example an index; nil for a stage that reads none.
        let detail: String?
    }

    struct Execution: Codable {
        let documentsRead: Int
        let bytesRead: Int
        /// The bytes read in units of 4 KiB.
        let readUnits: Int
        let milliseconds: Double
    }

    let stages: [Stage]
    let execution: Execution

    /// Advice for a pipeline that this server answers by an index: production has indexes of the
    /// Enterprise edition only where they are declared.
    var indexNote: String? {
        guard let way = stages.first?.detail,
            way.hasPrefix("index ") || way.contains(": index ")
        else { return nil }
        return """
            This server found the documents by an index. An Enterprise database has only the \
            indexes that you create: without one for these conditions it reads the whole collection.
            """
    }
}
