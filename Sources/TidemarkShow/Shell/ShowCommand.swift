public import ArgumentParser
import ExampleKit
import Foundation
import TidemarkConsole
import TidemarkHTTP
import TidemarkPhones
import TidemarkServer
import UnixSignals

/// The command `tidemark-lab show`: two phones play the same day in a browser.
public struct ShowCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Play an app before and on Tidemark, side by side, in a browser.",
        discussion: """
            Each phone is a separate process with the same server and the same events. Cut the \
            network, kill the apps, let others write, and watch what each phone shows and costs. \
            Prints the address of the page once it is ready. Exits on SIGINT and SIGTERM.
            """)

    @Argument(help: "The first app: \(Examples.all.map(\.name).joined(separator: ", ")).")
    var app = Examples.all[0].name

    @Option(help: "The port of the page; 0 picks a free port.")
    var port = 4_100

    @Option(help: "Record the show to this file.")
    var record: String?

    @Option(help: "Play back a recording, without phones and without a server.")
    var playback: String?

    @Option(help: "Turn this recording into one HTML page, written to --html.")
    var page: String?

    @Option(help: "The HTML page of --page. It plays in any browser without a server.")
    var html: String?

    @Flag(help: "Do not open a browser.")
    var quiet = false

    public init() {}

    public func validate() throws {
        if Examples.named(app) == nil {
            let names = Examples.all.map(\.name).joined(separator: ", ")
            throw ValidationError("There is no app \(app). Apps: \(names).")
        }
        if !(0...65_535).contains(port) {
            throw ValidationError("--port must be between 0 and 65535.")
        }
        if record != nil, playback != nil {
            throw ValidationError("--record and --playback cannot be combined.")
        }
        if (page == nil) != (html == nil) {
            throw ValidationError("--page and --html need each other.")
        }
        if page != nil, record != nil || playback != nil {
            throw ValidationError("--page cannot be combined with --record or --playback.")
        }
    }

    public func run() async throws {
        if let page, let html { return try Self.write(page, to: html) }
        if let playback {
            let kept: Playback
            do throws(OrderError) { kept = try Playback(playback) } catch {
                throw ValidationError(error.message)
            }
            return try await serve(kept, try FirestoreServer(FirestoreServer.Configuration()))
        }
        guard let example = Examples.named(app) else { return }
        let root = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-show-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        let ground = try await ShowGround()
        let recorder: Recorder?
        do { recorder = try record.map(Recorder.init) } catch let error as OrderError {
            throw ValidationError(error.message)
        }
        let show = Show(example, on: ground, in: root, recorder: recorder)
        await show.start()
        do { try await serve(show, ground.server) } catch {
            await show.close()
            await ground.close()
            throw error
        }
        await show.close()
        await ground.close()
    }

    private static func write(_ recording: String, to file: String) throws {
        do {
            let page = try RecordingPage(try Playback(recording).moments)
            try Data(page.html).write(to: URL(fileURLWithPath: file), options: .atomic)
        } catch let error as OrderError {
            throw ValidationError(error.message)
        } catch {
            throw ValidationError("\(file) cannot be written.")
        }
    }

    private func serve(_ source: some ShowSource, _ server: FirestoreServer) async throws {
        let pages = ControlServer(
            server, host: "127.0.0.1", port: port, pages: ShowPages(source: source))
        let quiet = quiet
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await pages.run { port in
                    let address = "http://127.0.0.1:\(port)"
                    FileHandle.standardOutput.write(Data("ready \(address)\n".utf8))
                    // Without a browser, the user can open the printed address.
                    if !quiet { try? Browser.open(address) }
                }
            }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return }
            }
            try await group.next()
            group.cancelAll()
        }
    }
}
