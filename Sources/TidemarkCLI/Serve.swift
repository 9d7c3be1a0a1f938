import ArgumentParser
import Foundation
import Synchronization
import TidemarkConsole
import TidemarkHTTP
import TidemarkModel
import TidemarkServer
import TidemarkStore
import TidemarkSystem

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run a Firestore server on one SQLite file.",
        discussion: """
            Prints "ready HOST:PORT" on standard output once the server accepts calls. The \
            console on the control port shows the data, each call and its cost: --open. On \
            SIGINT or SIGTERM, prints reads per caller on standard error and exits. Clients find \
            the server through FIRESTORE_EMULATOR_HOST, its accounts through \
            FIREBASE_AUTH_EMULATOR_HOST, and with --storage its files through \
            FIREBASE_STORAGE_EMULATOR_HOST (Firebase's clients) and STORAGE_EMULATOR_HOST (Cloud \
            Storage's clients, with http://).
            """)

    @Option(help: "The address to listen on. An address that others can reach needs a token.")
    var host = "127.0.0.1"

    @Option(
        help: "The port for gRPC, REST and WebChannel; 0 picks a free port. (default: 8080)")
    var port: Int?

    @Option(
        help: """
            The port for the console and the control API; 0 picks a free port. (default: a free \
            port if --port is 0)
            """)
    var controlPort: Int?

    @Option(help: "The folder of the database file. It is created if it does not exist.")
    var data: String?

    @Flag(help: "Keep all data in memory only.")
    var memory = false

    @Option(
        help: """
            The number of seconds for which the server keeps old versions, for reads at a past \
            time and for listeners that resume. 0 to 604800, a week.
            """)
    var history = 3_600

    @Option(
        help: """
            The maximum number of seconds that a call waits for the locks of other transactions. \
            0.01 to 3600.
            """)
    var lockTimeout = 15.0

    @Flag(help: "Open the console in a browser.")
    var open = false

    @Option(help: "Write the ports to this file, as JSON, once they are open.")
    var portsFile: String?

    @Option(
        help: ArgumentHelp(
            """
            Write the file through which Firebase's tools find the emulators of this project. \
            The control port answers their GET /emulators.
            """, valueName: "project"))
    var hubProject: String?

    @Flag(help: ArgumentHelp("Exit when standard input ends.", visibility: .hidden))
    var untilInputEnds = false

    @OptionGroup var accountsOptions: AccountsOptions
    @OptionGroup var indexOptions: IndexOptions
    @OptionGroup var rulesOptions: RulesOptions
    @OptionGroup var accessOptions: AccessOptions
    @OptionGroup var faultOptions: FaultOptions
    @OptionGroup var billingOptions: BillingOptions
    @OptionGroup var webOptions: WebOptions
    @OptionGroup var tlsOptions: TLSOptions
    @OptionGroup var exportOptions: ExportOptions

    func validate() throws {
        _ = try accessOptions.access(listeningOn: host)
        _ = try accountsOptions.mode(listeningOn: host, access: access())
        _ = try faultOptions.rules()
        _ = try faultOptions.profile()
        _ = try billingOptions.billing()
        _ = try webOptions.policy(listeningOn: host)
        if memory, data != nil { throw ValidationError("--memory and --data exclude each other.") }
        let ports = [
            ("--port", port ?? 0), ("--control-port", controlPort ?? 0),
            ("--accounts-port", accountsOptions.accountsPort ?? 0),
            ("--storage-port", accountsOptions.files.storagePort ?? 0),
            ("--requests-port", rulesOptions.requestsPort ?? 0),
        ]
        for (name, port) in ports where !(0...65_535).contains(port) {
            throw ValidationError("\(name) must be between 0 and 65535.")
        }
        if !(0.01...3_600).contains(lockTimeout) {
            throw ValidationError("--lock-timeout must be between 0.01 and 3600 seconds.")
        }
        if !(0...604_800).contains(history) {
            throw ValidationError("--history must be between 0 and 604800 seconds.")
        }
    }

    private func access() throws -> AccessToken? {
        try accessOptions.access(listeningOn: host)
    }

    func run() async throws {
        AccessOptions.takeOffCommandLine()
        ProcessMemory.settleHeap()
        webOptions.shortenPatience()
        if untilInputEnds { EndOfInput.raiseSIGTERM() }
        let prepared = try await prepare()
        try await serve(prepared.process, thenExport: prepared.whole)
        report(prepared.process.server.meter())
        indexOptions.report(prepared.process.server, prepared.indexes)
    }

    /// A server whose ports are not open yet.
    struct Prepared {
        let process: ServingProcess
        let whole: WholeExport
        let indexes: [IndexFileWatch]
    }

    /// Opens the data, and reads all files that the options name.
    func prepare() async throws -> Prepared {
        let shares = PortShares(
            descriptors: DescriptorLimit.raise(), hasObjects: accountsOptions.files.storage,
            hasGates: try faultOptions.profile() != nil)
        let directory = memory ? nil : data ?? ".tidemark"
        let firebase = try firebaseFile()
        var configuration = FirestoreServer.Configuration(
            dataDirectory: directory, history: .seconds(history),
            billing: try billingOptions.billing(), lockTimeout: .seconds(lockTimeout))
        configuration.editions =
            rulesOptions.edition.map { DatabaseEditions($0) } ?? firebase?.editions
            ?? DatabaseEditions()
        let server: FirestoreServer
        do throws(StoreError) { server = try FirestoreServer(configuration) } catch {
            throw CleanExit.message("tidemark serve: \(error.message)").asFailure
        }
        let indexes = try indexOptions.watch(firebase, for: server)
        let hasStrangers =
            !AccessOptions.isLoopback(host) || accountsOptions.accounts == .secure
        let rulesSettings = rulesOptions.settings(
            accessOptions.text, hasStrangers: hasStrangers)
        let rules = try rulesOptions.watch(firebase, for: server, settings: rulesSettings)
        let accounts = try await accountsOptions.server(
            listeningOn: host, access: try access(), dataDirectory: directory,
            functions: try exportOptions.eventOptions.blockingCaller())
        let gate = ServingProcess.gate(accounts: accounts, access: try access())
        let storageRules = try accountsOptions.files.rules(
            firebase, for: server, project: accountsOptions.accountsProject,
            errors: rulesOptions.messages(hasStrangers: hasStrangers))
        let objects = try accountsOptions.files.server(
            dataDirectory: directory, project: accountsOptions.accountsProject, gate: gate,
            rules: storageRules)
        let remark = RulesOptions.remark(
            hasToken: try access() != nil, mode: accounts?.settings.mode)
        if !rules.all.isEmpty, let remark {
            FileHandle.standardError.write(Data("\(remark)\n".utf8))
        }
        let whole = WholeExport(server: server, accounts: accounts, objects: objects)
        let deliveries = RecordedDeliveries()
        try await exportOptions.begin(whole, in: directory, deliveries)
        let port = port ?? firebase?.firestorePort ?? 8_080
        let isAnywhere = port == 0 || controlPort == 0
        let process = ServingProcess(
            server: server, accounts: accounts, objects: objects, host: host, port: port,
            controlPort: controlPort ?? firebase?.controlPort ?? (port == 0 ? 0 : 4_000),
            accountsPort: accountsOptions.accountsPort ?? firebase?.accountsPort
                ?? (isAnywhere ? 0 : 9_099),
            objectsPort: accountsOptions.files.storagePort ?? firebase?.storagePort
                ?? (isAnywhere ? 0 : 9_199),
            requestsPort: rulesOptions.requestsPort ?? firebase?.requestsPort ?? 0,
            portsFile: portsFile, hubProject: hubProject, opensConsole: open, access: try access(),
            web: try webOptions.policy(listeningOn: host),
            tls: try tlsOptions.tls(
                in: directory ?? ".tidemark", for: webOptions.names(listeningOn: host)),
            faults: try faultOptions.rules(),
            network: try faultOptions.profile(),
            rules: ServingRules(
                watches: rules, storage: storageRules?.watches ?? [], indexes: indexes,
                settings: rulesSettings),
            deliveries: deliveries, shares: shares)
        return Prepared(process: process, whole: whole, indexes: indexes)
    }

    /// Serves, and exports at the end, after a signal or the failure of a port. If the ports were
    /// never ready, nothing was written, and an existing export stays.
    private func serve(_ process: ServingProcess, thenExport whole: WholeExport) async throws {
        let ready = ReadyMark()
        let served = await Result {
            try await process.run(until: .signal(ready: { ready.raise() }))
        }
        // The server stops even if the export fails.
        var exported = Result<Void, any Error>.success(())
        if ready.isRaised {
            exported = await Result { try await exportOptions.end(whole) }
        }
        process.server.close()
        process.accounts?.close()
        process.objects?.close()
        if case .failure(let error) = served, !(error is CancellationError) { throw error }
        try exported.get()
    }

    /// Returns the chosen `firebase.json`, and prints its settings.
    private func firebaseFile() throws -> FirebaseFile? {
        do throws(FirebaseFile.Unreadable) {
            let folder = FileManager.default.currentDirectoryPath
            let file = try FirebaseFile.find(rulesOptions.firebaseJson, around: folder)
            if let file { FileHandle.standardError.write(Data("\(file.remark)\n".utf8)) }
            return file
        } catch {
            throw CleanExit.message("tidemark serve: \(error.message)").asFailure
        }
    }

    /// Prints the usage by label, then the sum.
    private func report(_ rows: [MeterRow]) {
        var total = Usage()
        func write(_ name: String, _ usage: Usage) {
            var counts = "\(usage.reads) reads, \(usage.writes) writes, \(usage.deletes) deletes"
            let units = usage.units
            if !units.isZero {
                counts +=
                    "; \(units.read) read units, \(units.realtimeUpdate) real-time update units, "
                    + "\(units.write) write units"
            }
            FileHandle.standardError.write(Data("\(name): \(counts)\n".utf8))
        }
        for row in rows {
            let usage = Usage(
                reads: row.reads, writes: row.writes, deletes: row.deletes,
                units: row.units ?? BilledUnits())
            total += usage
            write(row.label.printable, usage)
        }
        if !rows.isEmpty { write("total", total) }
    }
}

/// A flag that is raised once.
private final class ReadyMark: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .sequentiallyConsistent) }
    func raise() { value.store(true, ordering: .sequentiallyConsistent) }
}

extension String {
    /// The text on one line: control characters are escaped.
    fileprivate var printable: String {
        unicodeScalars.map { scalar in
            let isControl = scalar.properties.generalCategory == .control
            return isControl ? scalar.escaped(asASCII: true) : String(scalar)
        }.joined()
    }
}

extension CleanExit {
    /// Prints the sentence to standard error, and returns an exit code of failure.
    var asFailure: any Error {
        FileHandle.standardError.write(Data("\(self)\n".utf8))
        return ExitCode.failure
    }
}
