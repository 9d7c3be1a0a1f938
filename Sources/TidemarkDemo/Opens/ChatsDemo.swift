import ExampleKit
import Foundation
import TidemarkModel
import TidemarkServer
import TidemarkWire

/// Plays a history while clients open the feed. This is the demo without its command line.
struct ChatsDemo {
    let history: History
    let opens: Int
    let seed: UInt64

    func run(progress: (String) -> Void) async throws -> DemoReport {
        let start = ContinuousClock.now
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await ServerProcess(
            data: folder.appendingPathComponent("server"), rules: .chats)
        defer { server.stop() }
        let transport = GRPCTransport(.init(host: "127.0.0.1", port: server.port, usesTLS: false))
        let feed = FeedClient(place: try place("tidemark", on: server, in: folder))
        var clients: [any DemoClient] = [
            BeforeClient(place: try place("before", on: server, in: folder)),
            PlainClient(place: try place("plain", on: server, in: folder)), feed,
        ]
        var predictions = OpenPredictions()
        var tallies = clients.map { Tally(name: $0.name) }
        var stage = try await Stage(
            script: HistoryScript(
                history, collection: Self.collection, at: DemoPlace.time, seed: seed),
            server: server, transport: transport)

        for number in 0..<opens {
            // The last open follows the last event. The others are evenly spread before it.
            let share = (history.end - history.start) * Int64(number + 1) / Int64(opens)
            let changed = try await stage.play(until: history.start + share)
            let truth = try await stage.truth()
            let ahead = stage.elapsed
            let predicted = try await feed.predictedReads(
                ahead: ahead, changed: changed, items: stage.items)
            let before = try await server.reads(of: feed.name).documents
            for index in clients.indices {
                tallies[index].record(try await clients[index].open(ahead: ahead), against: truth)
            }
            let billed = try await server.reads(of: feed.name).documents - before
            predictions.add(predicted, billed: billed, atLeast: number == 0 ? stage.items : 1)
            let seconds = (ContinuousClock.now - start).components.seconds
            progress(
                "open \(number + 1) of \(opens), \(stage.played) of \(stage.total) writes, \(seconds) s"
            )
        }
        for index in tallies.indices {
            tallies[index].reads = try await server.reads(of: tallies[index].name).documents
        }
        await stage.close()
        let elapsed = (ContinuousClock.now - start).components
        return DemoReport(
            clients: tallies,
            bar: OpensBar(events: history.events.count, writes: stage.total, opens: opens),
            seconds: Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18,
            history: HistoryFigure(history), predictions: predictions)
    }

    private static let collection = CollectionPath(unchecked: DemoPlace.collection)

    private func place(
        _ name: String, on server: ServerProcess, in folder: URL
    ) throws -> DemoPlace {
        let own = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        return DemoPlace(port: server.port, accounts: server.accountsPort, folder: own)
    }
}

/// The server's side of the demo: it plays the events, moves the clock, and reads the documents.
private struct Stage {
    /// The maximum number of seconds between two events without a move of the server's clock.
    /// Closer events get the time at which they are played.
    private static let sitting: Int64 = 3_600

    private let script: HistoryScript
    private let server: ServerProcess
    private let transport: GRPCTransport
    private var player: EventPlayer
    private var clock: Int64
    private let start: Int64
    private(set) var played = 0
    private var known: Set<DocumentPath> = []
    /// The number of documents on the server.
    var items: Int { known.count }
    /// The time that has passed by the server's clock.
    var elapsed: Duration { .seconds(clock - start) }
    var total: Int { script.steps.count }

    init(
        script: HistoryScript, server: ServerProcess, transport: GRPCTransport
    ) async throws {
        self.script = script
        self.server = server
        self.transport = transport
        clock = script.steps[0].time
        start = clock
        try await server.setClock(secondsSince1970: clock)
        player = try await EventPlayer(transport, try DemoPlace.context("player"))
    }

    /// - Returns: The documents that were written.
    mutating func play(until time: Int64) async throws -> Set<DocumentPath> {
        var changed: Set<DocumentPath> = []
        while played < script.steps.count, script.steps[played].time <= time {
            let step = script.steps[played]
            if step.time - clock > Self.sitting { try await moveClock(to: step.time) }
            try await player.play(step.mutation)
            changed.insert(step.mutation.path)
            played += 1
        }
        try await player.drain()
        // The clock moves by more than a minute only, because the machine's time since the last
        // move must not have passed `time` already.
        if time - clock > 60 { try await moveClock(to: time) }
        known.formUnion(changed)
        return changed
    }

    private mutating func moveClock(to time: Int64) async throws {
        try await player.drain()
        try await server.setClock(secondsSince1970: time)
        clock = time
    }

    /// Reads all items from the server, independently of the clients. The projection has only the
    /// field that marks an item as deleted; each document also has its version.
    func truth() async throws -> Truth {
        var query = Query(collection: CollectionPath(unchecked: DemoPlace.collection))
        query.projection = [FieldPath(name: ItemFields.deletedAt)]
        return Truth(try await transport.documents(of: query, DemoPlace.context("check")).documents)
    }

    func close() async {
        player.finish()
        await transport.close()
    }
}
