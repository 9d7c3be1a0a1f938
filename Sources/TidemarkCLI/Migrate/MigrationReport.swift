import Foundation
import TidemarkMigration
import TidemarkModel

/// The result of `tidemark migrate change-times`.
struct MigrationReport {
    struct Row {
        let collection: MigratedCollection
        let survey: MigrationSurvey
        /// The reads and writes of this run, without those of a killed run before it.
        var reads: Int
        var writes = 0
        var progress: FillProgress?
        var tally: CheckTally?
        /// The number of documents without the field after the migration; nil if not known.
        var missingAfter: Int?

        init(_ collection: MigratedCollection, _ survey: MigrationSurvey) {
            self.collection = collection
            self.survey = survey
            reads = survey.reads
        }

        /// The number of documents that still have no usable change time.
        var open: Int {
            if let tally { return tally.found }
            guard let progress else { return 0 }
            return max(progress.open, (missingAfter ?? 0) + progress.wrongType.count)
        }

        var emptySentence: String {
            let others = survey.others.prefix(10).joined(separator: ", ")
            let hint = others.isEmpty ? "" : " These exist there: \(others)."
            return "There is no document in \(collection).\(hint) Nothing was written."
        }
    }

    let plan: MigrationPlan
    var rows: [Row] = []
    /// The sentence of a failure; nil if everything was done.
    var failure: String?

    init(_ plan: MigrationPlan) { self.plan = plan }

    var open: Int { rows.reduce(0) { $0 + $1.open } }
    var reads: Int { rows.reduce(0) { $0 + $1.reads } }
    var writes: Int { rows.reduce(0) { $0 + $1.writes } }

    /// The most that the rest of the work costs: a read of every document, and a write of each
    /// that may lack the field.
    var price: MigrationPrice {
        MigrationPrice(
            collections: rows.map(\.survey.documents),
            writes: plan.action == .check
                ? 0 : rows.reduce(0) { $0 + ($1.survey.missing ?? $1.survey.documents) },
            tariff: plan.tariff)
    }

    /// The price in a sentence, before it is paid.
    var priceSentence: String {
        let isBound = plan.action != .check && rows.contains { $0.survey.missing == nil }
        let writes =
            plan.action == .check ? "" : " and \(isBound ? "at most " : "")\(price.writes) writes"
        let what = plan.action == .check ? "The check" : "The migration"
        let cost = String(format: "$%.2f", price.dollars)
        return """
            \(what) takes \(price.reads) reads\(writes)\(unitsText(price)): \(cost) at the list \
            price of \(plan.location), without free amounts.\(assumption)
            """
    }

    /// The units of the Enterprise edition, in brackets; empty for the Standard edition.
    private func unitsText(_ price: MigrationPrice) -> String {
        guard let units = price.units, case .enterprise(_, let bytes) = plan.tariff else {
            return ""
        }
        let writes = plan.action == .check ? "" : " and \(units.write) write units"
        return " (\(units.read) read units\(writes) for documents of \(bytes) bytes)"
    }

    /// The assumptions of the price, after a space; empty for the Standard edition.
    private var assumption: String {
        guard case .enterprise(let prices, _) = plan.tariff else { return "" }
        let entry =
            plan.action == .check
            ? [] : ["Each written document has an entry in one index of \(plan.field.encoded)."]
        return (entry + prices.assumptions).map { " " + $0 }.joined()
    }

    // MARK: Text

    var text: String {
        var lines = rows.flatMap(lines)
        if failure == nil, plan.action == .survey {
            lines += [priceSentence, "Nothing was written. Add --apply to write."]
        }
        lines.append("This run has cost \(reads) reads and \(writes) writes.")
        return lines.joined(separator: "\n")
    }

    private func lines(_ row: Row) -> [String] {
        if let tally = row.tally { return checkLines(row, tally) }
        var lines = [surveyLine(row)]
        guard let progress = row.progress else { return lines }
        var parts = ["\(progress.filled) written", "\(progress.present) had one"]
        if progress.filledByOthers > 0 { parts.append("\(progress.filledByOthers) by others") }
        if progress.deleted > 0 { parts.append("\(progress.deleted) deleted meanwhile") }
        lines.append("  \(parts.joined(separator: ", "))")
        lines += examples("no time", progress.wrongType)
        lines += examples("changed at each attempt", progress.unsettled)
        lines += examples("refused", progress.refused)
        if let missing = row.missingAfter, missing > 0 {
            lines.append("  \(missing) lack it still: a writer that forgets it is running")
        }
        return lines
    }

    private func surveyLine(_ row: Row) -> String {
        let survey = row.survey
        let name = plan.field.encoded
        guard let missing = survey.missing else {
            return """
                \(row.collection): \(survey.documents) documents; no index can count those \
                without \(name)
                """
        }
        let wrong = survey.wrongType ?? 0
        let rest = wrong > 0 ? ", \(wrong) in which it is no time" : ""
        return "\(row.collection): \(survey.documents) documents, \(missing) without \(name)\(rest)"
    }

    private func checkLines(_ row: Row, _ tally: CheckTally) -> [String] {
        var lines = ["\(row.collection): \(row.survey.documents) documents, \(tally.found) found"]
        for (label, counts) in tally.rows.sorted(by: { $0.key < $1.key }) where counts.found > 0 {
            lines.append("  \(label): \(counts.found) of \(counts.documents)")
            lines += examples("older than the last write", counts.stale).map { "  " + $0 }
            lines += examples("later than the last write", counts.ahead).map { "  " + $0 }
            lines += examples("missing", counts.missing).map { "  " + $0 }
            lines += examples("no time", counts.wrongType).map { "  " + $0 }
        }
        if tally.migrated > 0 { lines.append("  \(tally.migrated) last written by a migration") }
        if tally.older > 0 { lines.append("  \(tally.older) older, and not judged") }
        return lines
    }

    /// Returns a line with a count, and the first three examples.
    private func examples(_ name: String, _ examples: Examples) -> [String] {
        guard examples.count > 0 else { return [] }
        return ["  \(name): \(examples.count)"] + examples.first.prefix(3).map { "    \($0)" }
    }

    // MARK: JSON

    private struct Output: Encodable {
        struct Collection: Encodable {
            let collection: String
            let documents: Int
            let missing, wrongType, missingAfter: Int?
            let open: Int
            let progress: FillProgress?
            let labels: [String: CheckTally.Row]?
            let migrated: Int?
        }

        let action, field: String
        let collections: [Collection]
        let open, reads, writes, plannedReads, plannedWrites: Int
        let plannedDollars: Double
        let plannedUnits: BilledUnits?
        let location: String
        let failure: String?
    }

    var json: String {
        let price = price
        let output = Output(
            action: plan.action.rawValue, field: plan.field.encoded,
            collections: rows.map { row in
                Output.Collection(
                    collection: row.collection.description, documents: row.survey.documents,
                    missing: row.survey.missing, wrongType: row.survey.wrongType,
                    missingAfter: row.missingAfter, open: row.open, progress: row.progress,
                    labels: row.tally?.rows, migrated: row.tally?.migrated)
            }, open: open, reads: reads, writes: writes, plannedReads: price.reads,
            plannedWrites: price.writes, plannedDollars: price.dollars,
            plannedUnits: price.units, location: plan.location, failure: failure)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: (try? encoder.encode(output)) ?? Data(), as: UTF8.self)
    }
}
