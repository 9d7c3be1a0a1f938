package import TidemarkModel
package import TidemarkSync
package import TidemarkTesting

/// Real engines and the real server in one thread, with a network, clocks and disks controlled by a
/// seed. The seed determines the whole history.
///
/// In each step of a history a client writes, listens or reads, or a fault begins, or time passes.
/// After every step, the rules that hold at all times are checked. At the end all faults are
/// healed, and all clients must show the server's data without help.
///
/// ```swift
/// let world = try World(WorldSettings(seed: 1))
/// try world.run()
/// ```
///
/// To play a history of your own, do not call ``run()``: action on ``clients``, ``network`` and
/// ``server``, call ``pass(_:)`` between the actions, and ``heal()`` at the end.
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
    /// Selects and performs the random actions.
    private(set) lazy var driver = WorldDriver(parameters, dice, in: self)
    /// Receives the events of clients and checks them.
    private(set) lazy var witness = WorldWitness(in: self)
    /// The live pipelines of the apps; nil if they have none.
    package private(set) lazy var lives = settings.hasPipelines ? WorldLives(in: self) : nil
    /// The random generator after the parameters was chosen.
    private let dice: SeededRandom
    private let parameters: WorldParameters
    private let files: WorldFiles
    private var violation: WorldViolation?

    private static let longestLog = 5_000

    package init(_ settings: WorldSettings) throws {
        self.settings = settings
        var dice = SeededRandom(seed: settings.seed)
        parameters = WorldParameters(&dice)
        self.dice = dice
        files = try WorldFiles()
        server = try WorldServer(
            time, folder: files.makeServerFolder(), history: settings.history ?? parameters.history,
            seed: settings.seed &+ 1)
        network = WorldNetwork(time, server, seed: settings.seed &+ 2)
        if settings.isVerbose { network.trace = { [unowned self] in note($0) } }
        for index in 0..<settings.clients {
            clients.append(
                WorldClient(
                    index: index,
                    cacheFile: try files.makeCache("c\(index)", hasUsers: parameters.changesUsers),
                    seed: settings.seed &+ 100 &+ UInt64(index), in: self))
        }
        for client in clients { client.start() }
    }

    /// Plays the whole history of the seed.
    ///
    /// - Throws: ``WorldViolation`` with the rule that was violated.
    package func run() throws {
        defer { end() }
        for client in clients { driver.listen(client) }
        for _ in 0..<settings.steps {
            try driver.act()
            lives?.act()
            try pass(driver.pause())
            try witness.look()
        }
        try heal()
    }

    /// Heals all faults, and checks that all clients recover without help.
    package func heal() throws { try WorldHealing(world: self).heal() }

    /// Ends all faults and starts every app.
    func mend() throws { try WorldHealing(world: self).mend() }

    /// Makes a client's app write something random.
    ///
    /// - Returns: The write; nil if no app is running.
    @discardableResult
    package func write(_ client: WorldClient) -> WorldWrite? { driver.write(client) }

    /// True if the users of a client share one cache.
    var sharesCache: Bool { parameters.sharesCache }

    /// Advances the time, and checks the recorded results.
    package func pass(_ duration: Duration) throws {
        time.advance(by: duration)
        for client in clients { client.releaseKilledEngine() }
        if let violation { throw violation }
        try witness.checkEvidence()
        try lives?.checkEvidence()
    }

    /// Releases everything, so that nothing outlives the world.
    package func end() {
        for client in clients {
            client.kill()
            client.releaseKilledEngine()
        }
        if server.isUp { server.kill() }
        network.serverGone()
    }

    /// The number of logs left behind by kills and found by the next process.
    package var logsLeft: (clients: Int, server: Int) {
        (clients.reduce(0) { $0 + $1.logsLeft }, server.logsLeft)
    }

    package func note(_ text: @autoclosure () -> String) {
        guard entries.count < Self.longestLog else { return }
        let text = text()
        noteValues { text }
    }

    /// Like ``note(_:)``, but makes the text only when the log is read. Making all texts took a
    /// tenth of a history's time.
    ///
    /// - Parameter text: Returns the text. It must capture only values that do not change.
    func noteValues(_ text: @escaping () -> String) {
        if entries.count < Self.longestLog { entries.append((time.elapsed, text)) }
    }

    package var log: [String] { entries.map { "\($0.at) \($0.text())" } }

    /// Records a violation. Only the first one counts.
    func violate(_ check: WorldCheck, _ text: String) {
        note(text)
        if violation == nil { violation = WorldViolation(check, text) }
    }

    private var again: String {
        settings.hasPipelines
            ? "TIDEMARK_LIVE_SEEDS=\(settings.seed) swift test --filter LiveWorldTests"
            : "TIDEMARK_WORLD_SEEDS=\(settings.seed) swift test --filter WorldTests"
    }

    /// Returns the text that a test prints for a failed world: the end of the log, and a command
    /// that repeats the history.
    package func report(_ error: any Error) -> String {
        let last = log.suffix(settings.isVerbose ? Self.longestLog : 60).joined(separator: "\n")
        return """
            \(error)
            Again, with the whole log: \
            \(again)
            \(last)
            """
    }
}

package struct WorldSettings {
    package var seed: UInt64
    package var steps = 40
    package var clients = 3
    /// The maximum number of limbo documents that a client requests concurrently: so few that some
    /// must wait.
    package var maxLimbo = 2
    /// The size of each client's cache in bytes: so small that it is always exceeded.
    package var cacheSize: Int64 = 1
    /// The time for which the server keeps old versions; nil to let the seed decide.
    package var history: Duration?
    package var isVerbose = false
    /// True if the apps also have live pipelines.
    package var hasPipelines = false
    #if TIDEMARK_DEFECTS
        package var defects: PlantedDefects = []
    #endif

    package init(seed: UInt64) { self.seed = seed }
}

/// The random parameters of a history. Each seed omits some kinds of faults, so that the other
/// kinds reach states that all of them together would prevent.
struct WorldParameters {
    var acts: [(WorldAction, Int)]
    let pauses: [(ClosedRange<Int>?, Int)]
    /// The time for which the server keeps old versions.
    let history: Duration
    let changesUsers: Bool
    /// True if the users of a device share one cache.
    let sharesCache: Bool

    init(_ dice: inout SeededRandom) {
        acts = [
            (.write, 40), (.writeOutside, 14), (.listen, 8), (.unlisten, 5), (.makeIndex, 4),
        ]
        for (fault, weight) in WorldAction.faults where dice.chance(45) {
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
