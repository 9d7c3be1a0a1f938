import TidemarkModel
import TidemarkSync
import TidemarkTestKit
import TidemarkTesting

/// Starts and stops the live pipelines of a world's apps, and compares their rows.
///
/// It has random generators of its own.
package final class WorldLives {
    private var lives: [[WorldLive]]
    private var dice: SeededRandom
    private var delays: SeededRandom
    private var pipelines: WorldPipelines
    package private(set) var figures = WorldLiveFigures()
    /// Rows that claim to be the server's as of a time, to be compared.
    private var truths: [Truth] = []
    private unowned let world: World

    private struct Truth {
        let pipeline: WorldPipeline
        let rows: [NaiveRow]
        let time: Timestamp
        let client: String
    }

    private static let most = 4

    init(in world: World) {
        self.world = world
        let seed = world.settings.seed
        lives = Array(repeating: [], count: world.settings.clients)
        dice = SeededRandom(seed: seed &+ 6)
        delays = SeededRandom(seed: seed &+ 7)
        pipelines = WorldPipelines(seed: seed &+ 8)
    }

    /// Maybe starts or stops a pipeline.
    func act() {
        let client = dice.pick(world.clients)
        guard client.isAlive else { return }
        let own = lives[client.index]
        for live in own where live.failure != nil { start(live, client) }
        if own.isEmpty || own.count < Self.most && dice.chance(25) {
            let live = WorldLive(pipelines.next(), tellsMetadata: dice.chance(50))
            lives[client.index].append(live)
            start(live, client)
        } else if dice.chance(15) {
            let place = dice.roll(own.count)
            world.note("\(client.name) stops a pipeline")
            own[place].stop()
            lives[client.index].remove(at: place)
        }
    }

    private func start(_ live: WorldLive, _ client: WorldClient) {
        guard let engine = client.engine, client.isAlive else { return }
        world.note("\(client.name) keeps live \(live.pipeline.value.stages.map(\.name))")
        figures.started += 1
        live.start(
            engine, on: client,
            delay: { [unowned self] in delays.chance(50) ? .zero : delays.milliseconds(0...40) },
            heard: { [unowned self, unowned client] in heard($0, client) })
    }

    /// Starts the pipelines of an app that has started again.
    func started(_ client: WorldClient) {
        for live in lives[client.index] { start(live, client) }
    }

    func died(_ client: WorldClient) {
        for live in lives[client.index] { live.drop() }
    }

    /// Starts the pipelines again whose listeners have failed.
    func mend() {
        world.time.runUntilIdle()
        for client in world.clients {
            for live in lives[client.index] {
                // The computation that reports a failure may still wait.
                live.runJobs()
                if live.failure != nil { start(live, client) }
            }
        }
    }

    private func heard(_ live: WorldLive, _ client: WorldClient) {
        if let failure = live.failure {
            world.note("\(client.name) pipeline fails: \(failure)")
            if live.isRefused {
                world.violate(.livePipelines, "\(client.name) refuses \(live.pipeline.value)")
            }
            return
        }
        guard let rows = live.rows else { return }
        let name = client.name
        world.noteValues { "\(name) pipeline has \(rows.map { $0.fields?.worldText ?? "" })" }
        guard let time = live.readTime, time >= client.knowsUntil,
            !world.ledger.hasPending(client.shownTo)
        else { return }
        truths.append(Truth(pipeline: live.pipeline, rows: rows, time: time, client: name))
    }

    // MARK: Comparisons

    /// Compares the pipelines of a client that has no work in progress with its cache and its
    /// pending writes.
    func check(_ client: WorldClient, _ held: WorldHoldings) throws {
        for live in lives[client.index] {
            live.runJobs()
            guard let rows = live.rows, live.failure == nil else { continue }
            let expected = live.pipeline.rows(of: held.all)
            figures.looks += 1
            if NaiveRow.areSame(rows, expected, inOrder: live.pipeline.isOrdered) {
                count(live, rows: rows.count, of: client)
                continue
            }
            // An acknowledged write is shown on top until the listen has delivered it.
            let isWaiting = live.views.contains { view in
                view?.documents.contains { $0.hasLocalMutations && !held.isWritten($0.path) }
                    == true
            }
            if isWaiting {
                figures.waiting += 1
                continue
            }
            throw WorldViolation(
                .livePipelines,
                "\(client.name) shows \(Self.text(rows)), not \(Self.text(expected)), "
                    + "of \(live.pipeline.value)")
        }
    }

    private func count(_ live: WorldLive, rows: Int, of client: WorldClient) {
        figures.rows += rows
        if !client.hasNetwork || !world.server.isUp { figures.offline += 1 }
        if live.wasKilled, live.isNew { figures.afterKills += 1 }
        live.isNew = false
    }

    static func text(_ rows: [NaiveRow]) -> String {
        "\(rows.map { ($0.path ?? "") + "(" + ($0.fields?.worldText ?? "failed") + ")" })"
    }

    /// The collections that the pipelines of a client read.
    func collections(of client: WorldClient) -> Set<String> {
        lives[client.index].reduce(into: []) { $0.formUnion($1.pipeline.collections) }
    }

    /// Compares rows shown as the server's with the server's data at their read time.
    func checkEvidence() throws {
        guard world.server.isUp else { return }
        let truths = truths
        self.truths = []
        var known = WorldHeld()
        for truth in truths {
            let parts = truth.pipeline.collections.map {
                known.documents(of: $0, at: truth.time, world.server)
            }
            let all = parts.compactMap(\.self)
            // The server no longer has that version.
            if all.count < parts.count { continue }
            let expected = truth.pipeline.rows(of: Array(all.joined()))
            figures.fresh += 1
            if NaiveRow.areSame(truth.rows, expected, inOrder: truth.pipeline.isOrdered) {
                continue
            }
            throw WorldViolation(
                .freshPipelines,
                "\(truth.client) showed \(Self.text(truth.rows)) as of \(truth.time.worldText), "
                    + "when the server had \(Self.text(expected)), of \(truth.pipeline.value)")
        }
    }

    /// Returns the first difference from the server's data; nil if there is none.
    ///
    /// - Parameter held: Returns the documents of a collection on the server.
    func difference(
        _ client: WorldClient, held: (String) throws -> [Document]
    ) throws -> String? {
        for live in lives[client.index] {
            live.runJobs()
            if let failure = live.failure { return "has a pipeline that fails: \(failure)" }
            guard let rows = live.rows else { return "has heard nothing of a pipeline" }
            let expected = live.pipeline.rows(
                of: try live.pipeline.collections.flatMap { try held($0) })
            if !NaiveRow.areSame(rows, expected, inOrder: live.pipeline.isOrdered) {
                return "shows \(Self.text(rows)), not \(Self.text(expected)), "
                    + "of \(live.pipeline.value)"
            }
            if live.tellsMetadata, !live.isFresh { return "takes a pipeline for stale or pending" }
        }
        return nil
    }

    /// Counts the pipelines that were equal to the server's at the end.
    func converged() { figures.converged += lives.reduce(0) { $0 + $1.count } }
}
