import ArgumentParser
import Foundation
import TidemarkConsole
import TidemarkHTTP
import TidemarkServer
import TidemarkStore

/// The options for functions that are called for changes of documents.
struct EventOptions: ParsableArguments {
    @Option(
        name: [.customLong("functions"), .customLong("functions_emulator")],
        help: ArgumentHelp(
            """
            The address of the functions emulator, as in http://127.0.0.1:5001. Changes of \
            documents are delivered to the functions that it registers. With --triggers, the \
            address of functions without a url.
            """, valueName: "address"))
    var functions: String?

    @Option(
        help: ArgumentHelp(
            """
            A file of functions: {"project": ID, "triggers": [{"key": NAME, "event": "written", \
            "document": "rooms/{id}", "url": URL}]}. Events are created, updated, deleted and \
            written.
            """, valueName: "file"))
    var triggers: String?

    @Option(
        help: """
            The number of failures after which an event is set aside and reported. 1 to 1000; \
            with 1, a failed function is not called again.
            """)
    var functionAttempts = 5

    @Option(help: "The number of seconds that a function may take. 1 to 3600.")
    var functionTimeout = 70

    func validate() throws {
        if !(1...1_000).contains(functionAttempts) {
            throw ValidationError("--function-attempts must be between 1 and 1000.")
        }
        if !(1...3_600).contains(functionTimeout) {
            throw ValidationError("--function-timeout must be between 1 and 3600 seconds.")
        }
        _ = try address()
    }

    /// Begins to deliver events. Commits before cause none.
    ///
    /// - Parameter deliveries: Records the deliveries.
    /// - Throws: The exit code, after a sentence on standard error.
    func start(_ server: FirestoreServer, _ deliveries: RecordedDeliveries) throws {
        let address = try address()
        let receiver = HTTPEventReceiver(emulator: address, timeout: .seconds(functionTimeout))
        let file = try triggers.map { try read($0, address: address) } ?? []
        do throws(StoreError) {
            try ServerEvents(server).start(
                deliveries.recording(receiver), triggers: file, maxAttempts: functionAttempts)
        } catch {
            throw CleanExit.message("tidemark serve: \(error.message)").asFailure
        }
    }

    /// Returns the caller of blocking functions.
    func blockingCaller() throws -> HTTPFunctionCaller {
        HTTPFunctionCaller(emulatorHost: try address().flatMap { URL(string: $0)?.host() })
    }

    private func read(_ path: String, address: String?) throws -> [EventTrigger] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CleanExit.message("tidemark serve: There is no file \(path).").asFailure
        }
        do throws(InvalidTrigger) {
            return try TriggerFile.triggers(in: data, address: address)
        } catch {
            throw CleanExit.message("tidemark serve: \(path): \(error.message)").asFailure
        }
    }

    /// Returns the address as a URL without a slash at its end; nil for none. Firebase's tools give
    /// HOST:PORT.
    private func address() throws -> String? {
        guard let functions else { return nil }
        var text = functions.contains("://") ? functions : "http://" + functions
        if text.hasSuffix("/") { text.removeLast() }
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme),
            url.host()?.isEmpty == false
        else { throw ValidationError("--functions must be an address, as http://HOST:PORT.") }
        return text
    }
}
