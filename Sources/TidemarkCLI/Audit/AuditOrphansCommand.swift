import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle
import TidemarkAudit
import TidemarkGoogleAuth
import TidemarkModel
import TidemarkWire
import UnixSignals

struct AuditOrphansCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "orphans",
        abstract: "Find accounts without a profile, and profiles without an account.",
        discussion: """
            Compares all ids of accounts and profiles, writes the result to a document, and \
            repairs only what --repair names. Exits with 0 if nothing was found, 2 if something \
            was found, and 1 if the audit failed. Without a host in the options or the \
            environment, it audits Google's service over TLS, as the service account of \
            GOOGLE_APPLICATION_CREDENTIALS or of the machine it runs on. TIDEMARK_TOKEN replaces \
            that account's token; on a local server it is the administrator's token.
            """)

    @OptionGroup var at: PlaceOptions

    @Option(
        help: """
            HOST:PORT of a local server's accounts. (default: FIREBASE_AUTH_EMULATOR_HOST)
            """)
    var accountsHost: String?

    @Option(help: "The collection of profiles. The id of a profile is the id of its account.")
    var profiles = "users"

    @Option(help: "The document that receives the report.")
    var report = "admin/orphanedUsers"

    @Flag(help: "Write no document.")
    var noReport = false

    @Option(
        help: """
            The minimum age of an account in seconds. The sign-up of a younger account may still \
            be running.
            """)
    var grace = 600

    @Option(
        help: ArgumentHelp(
            """
            Repair what was found: \
            \(OrphanRepair.allCases.map(\.rawValue).joined(separator: " or ")). \
            (default: repair nothing)
            """, valueName: "plan"))
    var repair: String?

    @Option(help: "Keep running, and audit each day at this time, as in 02:00.")
    var daily: String?

    @Option(help: "The time zone of --daily, as in Europe/Zurich. (default: this machine's)")
    var timeZone: String?

    @Option(
        help: """
            The address that receives the report as JSON if something was found, as in https://….
            """)
    var webhook: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let repair, OrphanRepair(rawValue: repair) == nil {
            let plans = OrphanRepair.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--repair must be one of \(plans).")
        }
        if !(0...604_800).contains(grace) {
            throw ValidationError("--grace must be between 0 and 604800 seconds.")
        }
        if let webhook, AuditWebhook(webhook) == nil {
            throw ValidationError("--webhook must be an http or https address.")
        }
        if timeZone != nil, daily == nil { throw ValidationError("--time-zone needs --daily.") }
        _ = try schedule()
    }

    private func schedule() throws -> DailySchedule? {
        guard let daily else { return nil }
        guard let zone = timeZone.map({ TimeZone(identifier: $0) }) ?? TimeZone.current else {
            throw ValidationError("There is no time zone \(timeZone ?? "").")
        }
        guard let schedule = DailySchedule(daily, in: zone) else {
            throw ValidationError("--daily must be a time of day, as in 02:00.")
        }
        return schedule
    }

    func run() async throws {
        let place = try await AuditPlace(
            host: at.host, accountsHost: accountsHost, project: at.project)
        let transport = GRPCTransport(place.firestore)
        let audit = try audit(place, transport)
        let plan = repair.flatMap(OrphanRepair.init)
        if let schedule = try schedule() {
            let service = DailyAudit(schedule) {
                await notify(try await audit.run(repair: plan))
            }
            let group = ServiceGroup(
                services: [service], gracefulShutdownSignals: [.sigint, .sigterm],
                logger: Logger(label: "tidemark.audit"))
            try await group.run()
            await transport.close()
            return
        }
        FileHandle.standardError.write(Data("\(place.sentence(database: at.database))\n".utf8))
        let result: OrphanReport
        do { result = try await audit.run(repair: plan) } catch {
            await transport.close()
            let message = (error as? RPCStatus)?.message ?? "\(error)"
            throw CleanExit.message("tidemark audit: \(message)").asFailure
        }
        await transport.close()
        await notify(result)
        if result.count > result.repaired { throw ExitCode(2) }
    }

    func audit(_ place: AuditPlace, _ transport: GRPCTransport) throws -> OrphanAudit {
        do {
            return OrphanAudit(
                accounts: place.accounts,
                profiles: ProfileDirectory(
                    transport,
                    database: try DatabaseID(
                        project: place.project, database: at.database),
                    collection: try CollectionPath(profiles), tokens: place.tokens),
                report: noReport ? nil : try DocumentPath(report), grace: .seconds(grace),
                now: {
                    Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
                })
        } catch { throw ValidationError(error.message) }
    }

    private func notify(_ result: OrphanReport) async {
        print(result)
        await post(result)
    }

    /// Posts findings to the webhook. If this fails, only prints the error, because the audit
    /// itself is done.
    func post(_ result: OrphanReport) async {
        guard result.count > 0, let webhook = webhook.flatMap(AuditWebhook.init) else { return }
        do { try await webhook.post(result) } catch {
            FileHandle.standardError.write(Data("tidemark audit: \(error)\n".utf8))
        }
    }

    private func print(_ result: OrphanReport) {
        let text = json ? Self.json(result) : Self.text(result)
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    /// Returns the report as JSON. `count`, `userIds` and `detectedAt` are about accounts without a
    /// profile, as in the report's document; `orphans` counts both kinds.
    static func json(_ result: OrphanReport) -> String {
        struct Side: Encodable {
            let count: Int
            let ids: [String]

            init(_ orphans: OrphanReport.Orphans) {
                count = orphans.count
                ids = orphans.ids
            }
        }
        struct Output: Encodable {
            let count: Int
            let userIds: [String]
            let detectedAt: String
            let accounts, profiles, orphans, tooYoung, reads, repaired: Int
            let accountsWithoutProfile, profilesWithoutAccount: Side
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let found = result.accountsWithoutProfile
        let time = Date(timeIntervalSince1970: Double(result.detectedAt.seconds))
        let output = Output(
            count: found.count, userIds: found.ids,
            detectedAt: ISO8601DateFormatter().string(from: time), accounts: result.accounts,
            profiles: result.profiles, orphans: result.count, tooYoung: result.tooYoung,
            reads: result.reads, repaired: result.repaired, accountsWithoutProfile: Side(found),
            profilesWithoutAccount: Side(result.profilesWithoutAccount))
        return String(decoding: (try? encoder.encode(output)) ?? Data(), as: UTF8.self)
    }

    private static func text(_ result: OrphanReport) -> String {
        var lines = [
            "\(result.accounts) accounts, \(result.profiles) profiles, \(result.reads) reads",
            "accounts without a profile: \(result.accountsWithoutProfile.count)",
            "profiles without an account: \(result.profilesWithoutAccount.count)",
        ]
        if result.tooYoung > 0 { lines.append("signing up now: \(result.tooYoung)") }
        if result.repaired > 0 { lines.append("repaired: \(result.repaired)") }
        for id in result.accountsWithoutProfile.ids.prefix(20) { lines.append("  account \(id)") }
        for id in result.profilesWithoutAccount.ids.prefix(20) { lines.append("  profile \(id)") }
        return lines.joined(separator: "\n")
    }
}
