import ArgumentParser
import Foundation
import TidemarkHTTP
import TidemarkMigration
import TidemarkModel
import TidemarkWire

struct ChangeTimesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change-times",
        abstract: "Give a change time to the documents that have none.",
        discussion: """
            A feed by change time never finds a document without that field. Without --apply, the \
            command counts these documents, says what a migration costs, and writes nothing. With \
            --apply, it reads all documents in pages and writes the field where it is missing, \
            only if the document has not changed meanwhile. A killed migration continues at the \
            next run. With --check, it reads all documents and reports change times that are more \
            than a minute older than the last write: a writer has forgotten the field.

            With --apply or --check, exits with 0 if nothing is left to do, 2 if documents without \
            a usable change time remain or --check found something, and 1 if it failed. Without \
            them, exits with 0 if the documents could be counted. Without a host in the option \
            or the environment, it migrates Google's service over TLS, as the service account of \
            GOOGLE_APPLICATION_CREDENTIALS or of the machine it runs on. TIDEMARK_TOKEN replaces \
            that account's token.
            """)

    @Argument(help: "The collections, as in posts or chats/a/messages.")
    var collections: [String] = []

    @Option(help: "The id of collections at any depth, as in messages. May be repeated.")
    var group: [String] = []

    @Option(help: "The field with the change time.")
    var field = "updatedAt"

    @OptionGroup var at: PlaceOptions

    @Flag(help: "Write the field.")
    var apply = false

    @Flag(help: "Find change times that are older than the last write. Write nothing.")
    var check = false

    @Option(
        help: """
            The written value: update-time, the time of the document's last write; or \
            server-time, the present, so that feeds in use read the document once more.
            """)
    var value = FilledValue.updateTime.rawValue

    @Option(help: "The maximum number of documents to write in a second.")
    var rate = 500

    @Option(help: "The file that keeps the progress.")
    var progress = "tidemark-change-times.json"

    @Option(
        help: """
            With --check, a field that names the writer of a document. (default: reports are by \
            collection)
            """)
    var label: String?

    @Option(
        help: """
            With --check, judge only documents that were written at or after this time, as in \
            2026-11-28T12:00:00Z.
            """)
    var since: String?

    @Option(help: "The location of the database, for the price.")
    var location = "nam5"

    @Option(help: "The edition of the database, for the price: standard or enterprise.")
    var edition = "standard"

    @Option(help: "The size of a document in bytes, for the price in the Enterprise edition.")
    var documentBytes = 1_024

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if collections.isEmpty, group.isEmpty {
            throw ValidationError("No collection is named.")
        }
        if apply, check { throw ValidationError("--apply and --check exclude each other.") }
        if !check, label != nil || since != nil {
            throw ValidationError("--label and --since need --check.")
        }
        if FilledValue(rawValue: value) == nil {
            let values = FilledValue.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--value must be one of \(values).")
        }
        if !(1...10_000).contains(rate) {
            throw ValidationError("--rate must be between 1 and 10000 documents a second.")
        }
        if !(1...DocumentLimits.enterpriseDocumentBytes).contains(documentBytes) {
            throw ValidationError(
                """
                --document-bytes must be between 1 and \(DocumentLimits.enterpriseDocumentBytes).
                """)
        }
        _ = try plan()
    }

    /// The prices of the edition in the location.
    private func tariff() throws -> MigrationTariff {
        switch DatabaseEdition(rawValue: edition) {
        case .standard: .standard(try ReadPrices.of(location))
        case .enterprise:
            .enterprise(try UnitPrices.of(location), documentBytes: documentBytes)
        case nil: throw ValidationError("--edition must be standard or enterprise.")
        }
    }

    /// The parsed options.
    func plan() throws -> MigrationPlan {
        do {
            var all = try collections.map { MigratedCollection.collection(try CollectionPath($0)) }
            all += try group.map { try MigratedCollection(group: $0) }
            guard Set(all).count == all.count else {
                throw ValidationError("A collection is named twice.")
            }
            var start: Timestamp?
            if let since {
                guard let time = Timestamp(rfc3339: since) else {
                    throw ValidationError("--since must be a time, as in 2026-11-28T12:00:00Z.")
                }
                start = time
            }
            return MigrationPlan(
                collections: all, field: try FieldPath(encoded: field),
                label: try label.map { try FieldPath(encoded: $0) }, since: start,
                value: FilledValue(rawValue: value) ?? .updateTime, rate: rate,
                file: progress, tariff: try tariff(), location: location,
                action: apply ? .apply : check ? .check : .survey)
        } catch let error as InvalidPath {
            throw ValidationError(error.message)
        } catch let error as ReadPrices.UnknownLocation {
            let isStandard = error.edition == .standard
            let known = isStandard ? Array(ReadPrices.table.keys) : Array(UnitPrices.table.keys)
            throw ValidationError(
                """
                --location: No prices are known of \(error.location). They are known of \
                \(known.sorted().joined(separator: ", ")). The location changes only the price: \
                leave the option out.
                """)
        }
    }

    func run() async throws {
        let plan = try plan()
        let place = try await FirestorePlace(
            host: at.host, project: at.project,
            environment: ProcessInfo.processInfo.environment,
            token: TokenVariable.value)
        Self.notify(place.sentence(database: at.database))
        let transport = GRPCTransport(place.endpoint)
        let report: MigrationReport
        do {
            let name = try DatabaseID(project: place.project, database: at.database)
            let calls = MigrationCalls(
                transport, database: name, field: plan.field, labelField: plan.label,
                tokens: place.tokens)
            report = try await MigrationRun(plan, calls).run { line in
                // The report of a dry run has the price too.
                if json || plan.action != .survey { Self.notify(line) }
            }
        } catch {
            await transport.close()
            throw Self.failure(error)
        }
        await transport.close()
        let text = json ? report.json : report.text
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
        if let failure = report.failure {
            throw CleanExit.message("tidemark migrate change-times: \(failure)").asFailure
        }
        if report.open > 0 { throw ExitCode(2) }
    }

    private static func notify(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }

    private static func failure(_ error: any Error) -> any Error {
        let sentence =
            switch error {
            case let status as RPCStatus: status.migrationSentence
            case let failure as ProgressFile.Failure: failure.message
            case let invalid as InvalidPath: invalid.message
            default: "\(error)"
            }
        return CleanExit.message("tidemark migrate change-times: \(sentence)").asFailure
    }
}
