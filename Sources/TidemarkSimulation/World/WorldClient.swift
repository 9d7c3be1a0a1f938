package import TidemarkModel
package import TidemarkSync
import TidemarkTesting

/// A device of a world: a cache file, a clock that may be wrong, and an app that is killed and started
/// again on the same file.
package final class WorldClient {
    package let index: Int
    package let disk = WorldDisk()
    package let cacheFile: String
    /// How far its clock is ahead of the world's.
    package var skew = Duration.zero
    /// Whether there is a way to the server.
    package private(set) var hasNetwork = true
    package private(set) var engine: SyncEngine?
    package private(set) var process: WorldProcess
    /// Whether its app is suspended, and has let go of its file.
    private(set) var isSuspended = false
    package private(set) var link: WorldLink?
    package var listeners: [WorldListener] = []
    /// Who is signed in, or is to be.
    package private(set) var user: String?
    private(set) var userChanges: [WorldUserChange] = []
    private(set) var transactions: [String: WorldTransaction] = [:]
    /// Until when it may know more than its listens do, from its own writes and reads.
    var knowsUntil = Timestamp.epoch
    var nextSequence = 1
    /// Killed, and its file still to be let go.
    private var corpse: SyncEngine?
    /// Of a process that was killed while it opened its file.
    private var remains: WorldRemains?
    /// How many logs its killed processes have left to the next ones.
    package private(set) var logsLeft = 0
    private unowned let world: World
    private let chance: WorldChance

    init(index: Int, cacheFile: String, seed: UInt64, in world: World) {
        self.index = index
        self.cacheFile = cacheFile
        self.world = world
        process = WorldProcess(on: world.time)
        process.kill()
        chance = WorldChance(seed: seed)
        disk.onKill = { [unowned self] step in
            self.world.note("\(name) is killed at \(step.rawValue)")
            if engine == nil { remains = files }
            die()
        }
    }

    package var isAlive: Bool { engine != nil }
    package var name: String { "c\(index)" }
    var writer: WorldWriter { WorldWriter(client: index, user: user) }
    /// Whose rows the app shows: a change takes the rows of the user before away when it begins.
    var shownTo: WorldWriter { userChanges.first?.writer ?? writer }

    /// What an app that runs on this device is given: an engine, or all that is built upon one.
    package func environment() -> SyncEnvironment {
        let process = process
        let time = world.time
        let chance = chance
        let skew = WorldBox { [unowned self] in self.skew }
        var environment = SyncEnvironment(
            transport: link!, scheduler: process,
            now: { time.now.advanced(by: skew.value()) }, random: { chance.next() })
        environment.storageFault = disk.fault(process)
        // Of every other device: what an app does meanwhile comes between the slices of a read.
        if index % 2 == 1 { environment.rowsOfSlice = 3 }
        #if TIDEMARK_DEFECTS
            environment.defects = world.settings.defects
        #endif
        return environment
    }

    /// Starts the app. Where its file cannot be opened now, it stays as it was.
    package func start() {
        precondition(!isAlive)
        buryCorpse()
        process = WorldProcess(on: world.time)
        link = world.network.link(of: process) { [unowned self] in hasNetwork }
        link!.sent = { [unowned self] in world.witness.sent($0, by: self) }
        do throws(SyncError) {
            engine = try SyncEngine(
                .init(
                    database: World.database, cacheFile: cacheFile, user: user,
                    sharesCacheBetweenUsers: world.sharesCache, label: name,
                    maxLimboResolutions: world.settings.maxLimbo,
                    cacheSizeBytes: world.settings.cacheSize),
                environment())
        } catch {
            world.note("\(name) cannot start: \(error)")
            process.kill()
            leave(remains)
        }
        remains = nil
        guard process.isAlive else {
            // Killed while it opened its file.
            corpse = engine
            engine = nil
            buryCorpse()
            return
        }
        world.note("\(name) starts")
        let wanted = listeners
        listeners = []
        for listener in wanted { listen(listener.query, listener.options) }
    }

    /// The process is gone from one moment to the next.
    package func kill() {
        guard isAlive else { return }
        world.note("\(name) is killed")
        die()
        world.time.runUntilIdle()
        buryCorpse()
    }

    private func die() {
        process.kill()
        corpse = engine
        engine = nil
        link?.processGone()
        isSuspended = false
        for listener in listeners { listener.handle = nil }
        userChanges = []
        transactions = [:]
    }

    func buryCorpse() {
        guard let corpse else { return }
        let remains = files
        corpse.abandon()
        self.corpse = nil
        leave(remains)
    }

    // The folder is the world's own: what fails here fails the test.
    private var files: WorldRemains {
        try! WorldRemains(of: cacheFile.dropLast("sqlite".count).description)
    }

    private func leave(_ remains: WorldRemains?) {
        guard let remains else { return }
        try! remains.putBack()
        logsLeft += remains.logs
    }

    /// Ends in good order.
    package func terminate() {
        guard let engine else { return }
        world.note("\(name) terminates")
        engine.terminate {}
        world.time.runUntilIdle()
        guard isAlive else { return }
        die()
        corpse = nil
    }

    /// The system suspends the app, or is about to.
    func suspend() {
        guard let engine, !isSuspended else { return }
        world.note("\(name) is suspended")
        isSuspended = true
        engine.suspend {}
        // Listeners are told of it, also those that the app drops next.
        world.time.runUntilIdle()
    }

    func resume() {
        guard let engine, isSuspended else { return }
        world.note("\(name) is resumed")
        isSuspended = false
        world.figures.resumed += 1
        engine.resume()
        world.time.runUntilIdle()
    }

    /// - Parameter isNoticed: Whether the device is told at once.
    package func setNetwork(_ isUp: Bool, isNoticed: Bool) {
        hasNetwork = isUp
        if !isUp {
            link?.breakAll(isNoticed: isNoticed)
        } else if isNoticed {
            engine?.networkMayBeBack()
        }
    }

    // MARK: What the app does

    package func listen(_ query: Query, _ options: SyncEngine.ListenOptions = .init()) {
        guard let engine else { return }
        let listener = WorldListener(query, options, client: index)
        listeners.append(listener)
        let process = process
        let sink = WorldBox { [unowned self, unowned listener] in (self, listener) }
        listener.handle = engine.listen(query, options) { event in
            guard process.isAlive else { return }
            let (client, listener) = sink.value()
            client.world.witness.heard(event, listener, client)
        }
    }

    package func unlisten(_ listener: WorldListener) {
        listener.handle?.cancel()
        listener.handle = nil
        listeners.removeAll { $0 === listener }
    }

    package func write(_ write: WorldWrite, _ mutations: [Mutation]) {
        guard let engine else { return }
        let process = process
        let id = write.id
        let sink = WorldBox { [unowned self] in self }
        engine.write(mutations) { event in
            guard process.isAlive else { return }
            let client = sink.value()
            client.world.witness.became(event, of: id, client)
        }
    }

    package func read(_ query: Query, _ source: ReadSource) {
        guard let engine else { return }
        let process = process
        let sink = WorldBox { [unowned self] in self }
        if source != .cache {
            // The call goes on after the read's deadline, and what it brings is kept.
            knowsUntil = max(knowsUntil, world.time.now.advanced(by: .seconds(62)))
        }
        let asking = writer
        engine.read(query, source: source, deadline: .seconds(5)) { result in
            guard process.isAlive else { return }
            let client = sink.value()
            client.world.witness.wasRead(result, query, asking, client)
        }
    }

    func run(_ transaction: WorldTransaction) {
        transactions[transaction.transfer.id] = transaction
        transaction.begin()
    }

    func ended(_ transaction: WorldTransaction) { transactions[transaction.transfer.id] = nil }

    /// Another user signs in. Where no app runs, the next one begins with that user.
    ///
    /// - Parameter erases: What is kept of the user before; not where no app runs.
    package func changeUser(to next: String?, erases: Bool = false) {
        guard next != user else { return }
        // As apps do: what is one user's own is not asked for by the next.
        for listener in listeners where listener.query.collectionID == WorldQueries.ownCollection {
            unlisten(listener)
        }
        for listener in listeners { listener.readTime = nil }
        let change = WorldUserChange(
            writer: WorldWriter(client: index, user: next),
            erased: erases && isAlive ? writer : nil)
        user = next
        guard let engine else { return }
        world.witness.began(change, self)
        userChanges.append(change)
        let process = process
        let sink = WorldBox { [unowned self] in self }
        engine.changeUser(to: next, erasesPrevious: erases) { error in
            guard process.isAlive else { return }
            let client = sink.value()
            client.userChanges.removeFirst()
            client.world.witness.ended(change, error, client)
        }
    }
}

/// One listener of an app, and what it has been shown.
package final class WorldListener {
    package let query: Query
    package let options: SyncEngine.ListenOptions
    let client: Int
    var handle: (any CancellableCall)?
    package internal(set) var snapshot: ViewSnapshot?
    /// Of the last snapshot that the present user was shown.
    var readTime: Timestamp?
    package internal(set) var failure: SyncError?
    package internal(set) var snapshots = 0

    init(_ query: Query, _ options: SyncEngine.ListenOptions, client: Int) {
        self.query = query
        self.options = options
        self.client = client
    }
}

/// Carries something of a world into a closure that must be sendable.
// @unchecked: a world lives in one thread.
final class WorldBox<Content>: @unchecked Sendable {
    let value: () -> Content

    init(_ value: @escaping () -> Content) { self.value = value }
}

// @unchecked: a world lives in one thread.
final class WorldChance: @unchecked Sendable {
    private var dice: SeededRandom

    init(seed: UInt64) { dice = SeededRandom(seed: seed) }

    func next() -> Double { .random(in: 0..<1, using: &dice) }
}
