import TidemarkModel
import TidemarkServer
import TidemarkStore
import TidemarkSync

/// The actions that can happen in one step of a history.
enum WorldAction {
    case write, writeOutside, listen, unlisten, read, makeIndex
    case changeUser, transact
    case kill, killAtTransaction, terminate, start
    case fillDisk, freeDisk
    case turnClock
    case losesNetwork, getsNetwork, breakConnections, halfOpen, disableNetwork, enableNetwork
    case stopServer, killServer, startServer
    case changeWeather, faultyServer
    case collectGarbage

    /// The actions that cause faults, with their weights. Each is added together with the action
    /// that ends its fault.
    static let faults: [(WorldAction, Int)] = [
        (.read, 6), (.kill, 4), (.killAtTransaction, 6), (.terminate, 2),
        (.fillDisk, 5), (.turnClock, 3), (.losesNetwork, 5), (.breakConnections, 6),
        (.halfOpen, 4), (.disableNetwork, 3), (.stopServer, 3), (.killServer, 3),
        (.changeWeather, 4), (.faultyServer, 4), (.collectGarbage, 5),
    ]
}

/// Selects the actions of a world by the seed and performs them.
package final class WorldDriver {
    var dice: SeededRandom
    /// The random generator for the contents of documents, except the fields that identify writes.
    var shapes: SeededRandom
    /// The random generator for suspensions. It is separate, so suspensions do not change the rest
    /// of the history.
    private var pauses: SeededRandom
    let parameters: WorldParameters
    var nextNumber: Int64 = 1
    var outsideSequence = 1
    /// The clients whose app has disabled the network.
    private(set) var disabled: Set<Int> = []
    unowned let world: World

    /// - Parameter dice: The random generator from which the parameters was chosen.
    init(_ parameters: WorldParameters, _ dice: SeededRandom, in world: World) {
        self.parameters = parameters
        self.dice = dice
        self.world = world
        shapes = SeededRandom(seed: world.settings.seed &+ 4)
        pauses = SeededRandom(seed: world.settings.seed &+ 5)
    }

    /// Starts a listener at the beginning of a history.
    func listen(_ client: WorldClient) {
        client.listen(dice.pick(WorldQueries.all), options())
    }

    /// Returns the time until the next action.
    func pause() -> Duration {
        dice.pick(weighted: parameters.pauses).map { dice.milliseconds($0) } ?? .zero
    }

    /// Performs one step of a history without advancing the time.
    func act() throws {
        let client = dice.pick(world.clients)
        if pauses.chance(client.isSuspended ? 40 : 9) {
            if client.isSuspended { client.resume() } else { client.suspend() }
        }
        // Faults are healed sooner or later.
        if !client.isAlive, dice.chance(50) { return client.start() }
        if !world.server.isUp, dice.chance(40) { return startServer() }
        if !client.disk.full.isEmpty, dice.chance(30) { return perform(.freeDisk, client) }
        if !client.hasNetwork, dice.chance(30) { return perform(.getsNetwork, client) }
        if isDisabled(client), dice.chance(30) { return perform(.enableNetwork, client) }
        let act = dice.pick(weighted: parameters.acts)
        guard case .write = act, dice.chance(50) else { return perform(act, client) }
        // Half of the writes are checked before anything else happens.
        if let write = write(client) { try world.witness.checkOwnWrite(write.id, client) }
    }

    private func isDisabled(_ client: WorldClient) -> Bool { disabled.contains(client.index) }

    func perform(_ act: WorldAction, _ client: WorldClient) {
        switch act {
        case .write: _ = write(client)
        case .writeOutside: writeOutside()
        case .listen:
            if client.listeners.count < 5 { client.listen(query(for: client), options()) }
        case .unlisten:
            if !client.listeners.isEmpty { client.unlisten(dice.pick(client.listeners)) }
        case .read:
            client.read(query(for: client), dice.pick([ReadSource.default, .server, .cache]))
        case .makeIndex:
            let index = WorldQueries.randomIndex(&dice)
            world.note("\(client.name) makes an index: \(index.sentence)")
            client.engine?.declareIndexes([index]) { _ in }
        case .changeUser: changeUser(client)
        case .transact: transact()
        case .collectGarbage:
            world.note("\(client.name) collects garbage")
            client.engine?.collectGarbage(limit: 0, percent: dice.pick([30, 100])) { _ in }
        default: breakOrMend(act, client)
        }
    }

    private func query(for client: WorldClient) -> Query {
        guard parameters.changesUsers, dice.chance(20) else {
            return dice.chance(30) ? dice.pick(WorldQueries.all) : WorldQueries.served(&dice)
        }
        // A query for everything reveals other users' data in the cache.
        if dice.chance(50) { client.read(WorldQueries.allOwn, .cache) }
        return WorldQueries.own(client.writer)
    }

    private func breakOrMend(_ act: WorldAction, _ client: WorldClient) {
        switch act {
        case .kill: client.kill()
        case .killAtTransaction:
            client.disk.killing = .init(transactions: 1 + dice.roll(4), commits: dice.chance(50))
            // Most transactions are those of writes.
            for _ in 0..<dice.roll(3) { _ = write(client) }
        case .terminate: client.terminate()
        case .fillDisk: fillDisk(client)
        case .freeDisk:
            world.note("\(client.name)'s disk has room")
            client.disk.full = []
        case .turnClock:
            client.skew = dice.pick([
                .seconds(86_400), .seconds(-86_400), .seconds(-1), .seconds(7), .zero,
            ])
            world.note("\(client.name)'s clock is off by \(client.skew)")
        default: breakOrMendNetwork(act, client)
        }
    }

    private func fillDisk(_ client: WorldClient) {
        // This world has no files.
        let all = StorageStep.allCases.filter {
            $0 != .read && $0 != .open && $0 != .changeFiles
        }
        client.disk.full =
            dice.chance(50) ? Set(all) : Set((0..<2).map { _ in dice.pick(all) })
        world.note("\(client.name)'s disk is full for \(client.disk.full.map(\.rawValue).sorted())")
    }

    private func breakOrMendNetwork(_ act: WorldAction, _ client: WorldClient) {
        let isNoticed = dice.chance(50)
        world.note("\(act) \(client.name)\(isNoticed ? "" : " unnoticed")")
        switch act {
        case .losesNetwork: client.setNetwork(false, isNoticed: isNoticed)
        case .getsNetwork: client.setNetwork(true, isNoticed: isNoticed)
        case .breakConnections: client.link?.breakAll(isNoticed: isNoticed)
        case .halfOpen: client.link?.breakSilently()
        case .disableNetwork: setEnabled(false, client)
        case .enableNetwork: setEnabled(true, client)
        case .changeWeather: world.network.weather = weather()
        case .faultyServer: orderFaults()
        default: stopServer(act)
        }
    }

    func setEnabled(_ isEnabled: Bool, _ client: WorldClient) {
        guard let engine = client.engine else { return }
        engine.setNetworkEnabled(isEnabled) {}
        if isEnabled { disabled.remove(client.index) } else { disabled.insert(client.index) }
    }

    private func stopServer(_ act: WorldAction) {
        guard world.server.isUp else { return }
        switch act {
        case .stopServer: world.server.stop()
        case .killServer: dice.chance(50) ? world.server.kill() : world.server.killBeforeAnswering()
        default: return
        }
        world.network.serverGone()
    }

    func startServer() {
        guard !world.server.isUp else { return }
        world.note("the server starts")
        do { try world.server.start() } catch {
            world.violate(.convergence, "the server cannot start: \(error)")
        }
    }

    private func weather() -> WorldNetwork.Weather {
        var weather = WorldNetwork.Weather()
        weather.latency = dice.pick([1...5, 1...200, 300...2_000])
        weather.losses = dice.pick([0, 10, 80])
        weather.halfOpen = dice.pick([0, 30, 100])
        weather.refusals = dice.pick([0, 0, 30])
        weather.refusedBatches = dice.pick([0, 0, 20])
        return weather
    }

    /// The faults that only a server can cause.
    private static let serverFaults = [
        "rpc=Listen,share=0.5,reset=2", "rpc=Listen,share=0.4,duplicate",
        "rpc=Listen,share=0.5,false-filter=2", "rpc=Listen,share=0.5,delay-current=3s",
        "rpc=Listen,share=0.4,cut=before:4", "rpc=Listen,share=0.5,drop-tokens",
        "rpc=Write,share=0.4,lose-response", "rpc=Write,share=0.3,cut=before:3",
        "share=0.2,error=UNAVAILABLE", "share=0.3,latency=400ms,jitter=400ms",
    ]

    private func orderFaults() {
        let texts = Self.serverFaults.shuffled(using: &dice).prefix(dice.roll(4))
        do { try world.server.order(texts.map { try FaultRule($0) }) } catch {
            world.violate(.convergence, "\(error)")
        }
    }

    func options() -> SyncEngine.ListenOptions {
        .init(includeMetadataChanges: dice.chance(60))
    }

    func changeUser(_ client: WorldClient) {
        let next = dice.pick(WorldUsers.all.filter { $0 != client.user })
        client.changeUser(to: next, erases: !world.sharesCache && dice.chance(15))
    }
}
