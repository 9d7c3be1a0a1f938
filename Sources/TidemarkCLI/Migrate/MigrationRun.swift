import TidemarkMigration
import TidemarkModel

/// The parsed options of `tidemark migrate change-times`.
struct MigrationPlan: Sendable {
    enum Action: String, Sendable { case survey, apply, check }

    let collections: [MigratedCollection]
    let field: FieldPath
    let label: FieldPath?
    let since: Timestamp?
    let value: FilledValue
    let rate: Int
    /// The path of the progress file.
    let file: String
    let tariff: MigrationTariff
    let location: String
    let action: Action
}

/// Surveys, migrates or checks the collections of a plan, one after another.
struct MigrationRun {
    private let plan: MigrationPlan
    private let calls: MigrationCalls
    private let migration: ChangeTimeMigration<ContinuousClock>

    init(_ plan: MigrationPlan, _ calls: MigrationCalls) {
        self.plan = plan
        self.calls = calls
        migration = ChangeTimeMigration(calls, clock: ContinuousClock())
    }

    /// Returns the report. A failure in the middle is in the report, beside what was done.
    ///
    /// - Parameter tell: Receives a line from time to time.
    /// - Throws: `RPCStatus` or `ProgressFile.Failure`, if nothing was done.
    func run(_ notify: (String) -> Void) async throws -> MigrationReport {
        var file = try ProgressFile.read(plan.file)
        var report = MigrationReport(plan)
        for collection in plan.collections {
            report.rows.append(.init(collection, try await migration.survey(collection)))
        }
        if let empty = report.rows.first(where: { $0.survey.documents == 0 }) {
            report.failure = empty.emptySentence
            return report
        }
        notify(report.priceSentence)
        switch plan.action {
        case .survey: break
        case .check: try await check(&report, file)
        case .apply: try await apply(&report, &file, telling: notify)
        }
        return report
    }

    private func check(_ report: inout MigrationReport, _ file: ProgressFile) async throws {
        for index in report.rows.indices {
            let collection = report.rows[index].collection
            let windows = file.windows(collection, plan.field, in: calls.database)
            let tally = CheckTally(since: plan.since, windows: windows)
            let result = try await migration.check(collection, tally)
            report.rows[index].tally = result.tally
            report.rows[index].reads += result.reads
        }
    }

    private func apply(
        _ report: inout MigrationReport, _ file: inout ProgressFile,
        telling notify: (String) -> Void
    ) async throws {
        for index in report.rows.indices {
            let collection = report.rows[index].collection
            let start =
                file.unfinished(collection, plan.field, in: calls.database) ?? FillProgress()
            if let cursor = start.cursor { notify("\(collection): continues after \(cursor)") }
            var pages = 0
            let total = report.rows[index].survey.documents
            let (progress, stopped) = await migration.fill(
                collection, from: start, value: plan.value, rate: plan.rate
            ) { (progress: FillProgress) throws(RPCStatus) in
                file.set(
                    progress, of: collection, field: plan.field, in: calls.database)
                do throws(ProgressFile.Failure) { try file.write(plan.file) } catch {
                    throw RPCStatus(.failedPrecondition, error.message)
                }
                pages += 1
                if pages.isMultiple(of: 20) {
                    let done = "\(progress.documents) of \(total) read"
                    notify("\(collection): \(done), \(progress.filled) written")
                }
            }
            report.rows[index].progress = progress
            report.rows[index].reads += progress.reads - start.reads
            report.rows[index].writes = progress.writes - start.writes
            if let stopped {
                report.failure = """
                    \(stopped.migrationSentence) \(collection) is migrated up to \
                    \(progress.cursor ?? "its first document"). The same command continues there.
                    """
                return
            }
            let after = try await migration.survey(collection)
            report.rows[index].reads += after.reads
            report.rows[index].missingAfter = after.missing
        }
    }
}
