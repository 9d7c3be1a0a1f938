package import TidemarkModel
package import TidemarkSync
package import TidemarkTesting

/// Real engines and the real server in one thread, with network, clocks and disks that a seed plays:
/// one seed, one history.
///
/// A history is made of steps: somebody writes, listens or reads, something breaks, time passes.
/// What must hold at every moment is checked after every step; then everything is mended, and all
/// must come to show what the server holds, without help.
///
/// ```swift
/// let world = try World(WorldSettings(seed: 1))
/// try world.run()
/// ```
///
/// For a history of one's own, leave ``run()`` aside: act on ``clients``, ``network`` and ``server``,
/// call ``pass(_:)`` between the acts, and ``heal()`` in the end.
package final class World {
    package static let database = try! DatabaseID(project: "world")

    package let settings: WorldSettings
    package let time = VirtualScheduler()
    package let server: WorldServer
    package let network: WorldNetwork
    package private(set) var clients: [WorldClient] = []
    package internal(set) var ledger = WorldLedger()
    package internal(set) var bank = WorldBank()
    private var entries: [(at: Duration, text: () -> String)] = []
    package internal(set) var figures = WorldFigures()
    /// Lets things happen.
    private(set) lazy var driver = WorldDriver(mood, dice, in: self)
    /// Hears what clients are told, and compares it.
    private(set) lazy var witness = WorldWitness(in: self)
    /// As they were when the mood had been made.
    private let dice: SeededRandom
    private let mood: WorldMood
    private let files: WorldFiles
    private var violation: WorldViolation?

    private static let longestLog = 5_000

    package init(_ settings: WorldSettings) throws {
        self.settings = settings
        var dice = SeededRandom(seed: settings.seed)
        mood = WorldMood(&dice)
        self.dice = dice
        files = try WorldFiles()
        server = try WorldServer(
            time, folder: files.makeServerFolder(), history: settings.history ?? mood.history,
            seed: settings.seed &+ 1)
        network = WorldNetwork(time, server, seed: settings.seed &+ 2)
        if settings.isVerbose { network.trace = { [unowned self] in note($0) } }
        for index in 0..<settings.clients {
            clients.append(
                WorldClient(
                    index: index,
                    cacheFile: try files.makeCache("c\(index)", hasUsers: mood.changesUsers),
                    seed: settings.seed &+ 100 &+ UInt64(index), in: self))
        }
        for client in clients { client.start() }
    }

    /// A whole history from the seed.
    ///
    /// - Throws: ``WorldViolation`` with what was seen that may not be.
    package func run() throws {
        defer { end() }
        for client in clients { driver.listen(client) }
        for _ in 0..<settings.steps {
            try driver.act()
            try pass(driver.pause())
            try witness.look()
        }
        try heal()
    }

    /// Mends everything, and expects of all clients that they find back by themselves.
    package func heal() throws { try WorldHealing(world: self).heal() }

    /// Nothing is broken any more, and every app runs.
    func mend() throws { try WorldHealing(world: self).mend() }

    /// What a client's app writes, picked by the seed.
    ///
    /// - Returns: Nil where no app runs.
    @discardableResult
    package func write(_ client: WorldClient) -> WorldWrite? { driver.write(client) }

    /// Whether a client's users share one cache.
    var sharesCache: Bool { mood.sharesCache }

    /// Lets time pass, and checks what was seen.
    package func pass(_ duration: Duration) throws {
        time.advance(by: duration)
        for client in clients { client.buryCorpse() }
        if let violation { throw violation }
        try witness.checkEvidence()
    }

    /// Lets go of everything, so that nothing of it outlives the world.
    package func end() {
        for client in clients {
            client.kill()
            client.buryCorpse()
        }
        if server.isUp { server.kill() }
        network.serverGone()
    }

    /// How many logs were left behind by kills, and met by the next process.
    package var logsLeft: (clients: Int, server: Int) {
        (clients.reduce(0) { $0 + $1.logsLeft }, server.logsLeft)
    }

    package func note(_ text: @autoclosure () -> String) {
        guard entries.count < Self.longestLog else { return }
        let text = text()
        noteValues { text }
    }

    /// As ``note(_:)``, put into words when the log is read, if ever: that took a tenth of a history.
    ///
    /// - Parameter text: Of values that do not change.
    func noteValues(_ text: @escaping () -> String) {
        if entries.count < Self.longestLog { entries.append((time.elapsed, text)) }
    }

    package var log: [String] { entries.map { "\($0.at) \($0.text())" } }

    /// The first one counts.
    func violate(_ check: WorldCheck, _ text: String) {
        note(text)
        if violation == nil { violation = WorldViolation(check, text) }
    }

    /// What a test prints when a world fails: the end of its log, and the command that plays it again.
    package func report(_ error: any Error) -> String {
        let last = log.suffix(settings.isVerbose ? Self.longestLog : 60).joined(separator: "\n")
        return """
            \(error)
            Again, with the whole log: \
            TIDEMARK_WORLD_SEEDS=\(settings.seed) swift test --filter WorldTests
            \(last)
            """
    }
}

package struct WorldSettings {
    package var seed: UInt64
    package var steps = 40
    package var clients = 3
    /// How many limbo documents a client asks for at once: few, so that some wait.
    package var maxLimbo = 2
    /// Of each client's cache, in bytes: so small that it is always too large.
    package var cacheSize: Int64 = 1
    /// How long the server keeps old versions; nil for what the seed says.
    package var history: Duration?
    package var isVerbose = false
    #if TIDEMARK_DEFECTS
        package var defects: PlantedDefects = []
    #endif

    package init(seed: UInt64) { self.seed = seed }
}

/// What a history is made of: each seed leaves out some kinds of faults, so that the others come to
/// things that all of them together would never let happen.
struct WorldMood {
    var acts: [(WorldAct, Int)]
    let pauses: [(ClosedRange<Int>?, Int)]
    /// How long the server keeps old versions.
    let history: Duration
    let changesUsers: Bool
    /// Whether the users of a device share one cache.
    let sharesCache: Bool

    init(_ dice: inout SeededRandom) {
        acts = [
            (.write, 40), (.writeOutside, 14), (.listen, 8), (.unlisten, 5), (.makeIndex, 4),
        ]
        for (fault, weight) in WorldAct.faults where dice.chance(45) {
            acts.append((fault, weight))
        }
        changesUsers = dice.chance(45)
        if changesUsers { acts.append((.changeUser, 7)) }
        sharesCache = dice.chance(25)
        if dice.chance(50) { acts.append((.transact, 14)) }
        pauses =
            dice.chance(50)
            ? [(nil, 6), (1...30, 6), (30...500, 6), (500...4_000, 3), (4_000...90_000, 1)]
            : [(nil, 1), (1...30, 3), (30...500, 8), (500...15_000, 6), (60_000...200_000, 1)]
        history = dice.chance(20) ? .seconds(30) : .seconds(3_600)
    }
}
