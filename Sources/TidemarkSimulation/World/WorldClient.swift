package import TidemarkModel
package import TidemarkSync
import TidemarkTesting

/// A device of a world: a cache file, a clock that can be wrong, and an app that is killed and
/// restarted on the same file.
package final class WorldClient {
    package let index: Int
    package let disk = WorldDisk()
    package let cacheFile: String
    /// The time by which the device's clock is ahead of the world's.
    package var skew = Duration.zero
    /// True if the device can reach the server.
    package private(set) var hasNetwork = true
    package private(set) var engine: SyncEngine?
    package private(set) var process: WorldProcess
    /// True if the app is suspended and has released its file.
    private(set) var isSuspended = false
    package private(set) var link: WorldLink?
    package var listeners: [WorldListener] = []
    /// The user who is signed in, or who will be after the current change.
    package private(set) var user: String?
    private(set) var userChanges: [WorldUserChange] = []
    private(set) var transactions: [String: WorldTransaction] = [:]
    /// The time up to which the client may know more than its listens deliver, from its own writes
    /// and reads.
    var knowsUntil = Timestamp.epoch
    var nextSequence = 1
    /// The engine of a killed process whose file is not released yet.
    private var killedEngine: SyncEngine?
    /// The files of a process that was killed while it opened them.
    private var remains: WorldRemains?
    /// The number of logs that killed processes have left to their successors.
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
    /// The writer whose rows the app shows. A change of user removes the previous user's rows when
    /// it begins.
    var shownTo: WorldWriter { userChanges.first?.writer ?? writer }

    /// Returns the environment for an app on this device: for an engine, or for everything built on
    /// one.
    package func environment() -> SyncEnvironment {
        let process = process
        let time = world.time
        let chance = chance
        let skew = WorldBox { [unowned self] in self.skew }
        var environment = SyncEnvironment(
            transport: link!, scheduler: process,
            now: { time.now.advanced(by: skew.value()) }, random: { chance.next() })
        environment.storageFault = disk.fault(process)
        // Every second device scans in short slices, so that an app's calls interrupt its reads.
        if index % 2 == 1 { environment.rowsOfSlice = 3 }
        #if TIDEMARK_DEFECTS
            environment.defects = world.settings.defects
        #endif
        return environment
    }

    /// Starts the app. If the file cannot be opened now, the app stays stopped.
    package func start() {
        precondition(!isAlive)
        releaseKilledEngine()
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
            // The process was killed while it opened its file.
            killedEngine = engine
            engine = nil
            releaseKilledEngine()
            return
        }
        world.note("\(name) starts")
        let wanted = listeners
        listeners = []
        for listener in wanted { listen(listener.query, listener.options) }
        world.lives?.started(self)
    }

    /// Ends the process without warning.
    package func kill() {
        guard isAlive else { return }
        world.note("\(name) is killed")
        die()
        world.time.runUntilIdle()
        releaseKilledEngine()
    }

    private func die() {
        process.kill()
        killedEngine = engine
        engine = nil
        link?.processGone()
        isSuspended = false
        for listener in listeners { listener.handle = nil }
        world.lives?.died(self)
        userChanges = []
        transactions = [:]
    }

    func releaseKilledEngine() {
        guard let killedEngine else { return }
        let remains = files
        killedEngine.abandon()
        self.killedEngine = nil
        leave(remains)
    }

    // The folder belongs to the world, so an error here fails the test.
    private var files: WorldRemains {
        try! WorldRemains(of: cacheFile.dropLast("sqlite".count).description)
    }

    private func leave(_ remains: WorldRemains?) {
        guard let remains else { return }
        try! remains.putBack()
        logsLeft += remains.logs
    }

    /// Ends the app normally.
    package func terminate() {
        guard let engine else { return }
        world.note("\(name) terminates")
        engine.terminate {}
        world.time.runUntilIdle()
        guard isAlive else { return }
        die()
        killedEngine = nil
    }

    /// Suspends the app, as the system does.
    func suspend() {
        guard let engine, !isSuspended else { return }
        world.note("\(name) is suspended")
        isSuspended = true
        engine.suspend {}
        // Listeners are notified first, even those that the app drops next.
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

    /// - Parameter isNoticed: True if the device is notified immediately.
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
            // The call continues after the read's deadline, and its results are stored.
            knowsUntil = max(knowsUntil, world.time.now.advanced(by: .seconds(62)))
        }
        let asking = writer
        engine.read(query, source: source, deadline: .seconds(5)) { result in
            guard process.isAlive else { return }
            let client = sink.value()
            client.world.witness.wasRead(result, query: query, asking: asking, client: client)
        }
    }

    func run(_ transaction: WorldTransaction) {
        transactions[transaction.transfer.id] = transaction
        transaction.begin()
    }

    func ended(_ transaction: WorldTransaction) { transactions[transaction.transfer.id] = nil }

    /// Signs another user in. If no app is running, the next app starts with that user.
    ///
    /// - Parameter erases: If true, also erases the previous user's data, unless no app is running.
    package func changeUser(to next: String?, erases: Bool = false) {
        guard next != user else { return }
        // Apps do not listen to the previous user's own documents.
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
            client.world.witness.ended(change, error: error, client: client)
        }
    }
}

/// A listener of an app, and the snapshots that it has shown.
package final class WorldListener {
    package let query: Query
    package let options: SyncEngine.ListenOptions
    let client: Int
    var handle: (any CancellableCall)?
    package internal(set) var snapshot: ViewSnapshot?
    /// The read time of the last snapshot shown to the current user.
    var readTime: Timestamp?
    package internal(set) var failure: SyncError?
    package internal(set) var snapshots = 0

    init(_ query: Query, _ options: SyncEngine.ListenOptions, client: Int) {
        self.query = query
        self.options = options
        self.client = client
    }
}

/// Carries a value of a world into a sendable closure.
// @unchecked: a world uses only one thread.
final class WorldBox<Content>: @unchecked Sendable {
    let value: () -> Content

    init(_ value: @escaping () -> Content) { self.value = value }
}

// @unchecked: a world uses only one thread.
final class WorldChance: @unchecked Sendable {
    private var dice: SeededRandom

    init(seed: UInt64) { dice = SeededRandom(seed: seed) }

    func next() -> Double { .random(in: 0..<1, using: &dice) }
}
