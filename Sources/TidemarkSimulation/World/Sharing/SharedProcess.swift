import TidemarkModel
package import TidemarkSync
import TidemarkTesting

/// A process of a ``SharedHistory``: an app, or its widget or extension. All processes use the same
/// cache.
package final class SharedProcess {
    package let index: Int
    package let role: SyncEngine.ProcessRole
    let disk = WorldDisk()
    private(set) var engine: SyncEngine?
    private(set) var isSuspended = false
    /// The time of the last start or resume.
    private(set) var awakeSince = Duration.zero
    /// The rows that the listener has shown, by path.
    private(set) var shown: [DocumentPath: EncodedFields]?
    /// The documents that this process must show: it journalled them, and they are not rejected.
    private(set) var own: Set<DocumentPath> = []
    /// True if the disk is full, or was full since the process started. The process may retry as
    /// late as a minute afterwards.
    private(set) var hasTrouble = false
    private var wasHolder = false
    private var process: WorldProcess
    private var link: WorldLink?
    private var killedEngine: SyncEngine?
    private let chance: WorldChance
    private unowned let history: SharedHistory

    init(index: Int, role: SyncEngine.ProcessRole, seed: UInt64, in history: SharedHistory) {
        self.index = index
        self.role = role
        self.history = history
        chance = WorldChance(seed: seed)
        process = WorldProcess(on: history.time)
        process.kill()
        disk.onKill = { [unowned self] step in
            self.history.note("p\(index) is killed at \(step.rawValue)")
            die()
        }
    }

    package var isAlive: Bool { process.isAlive }
    /// True if the process currently holds the file.
    package var isHolder: Bool { engine.map { isAlive && !isSuspended && !$0.isReadOnly } ?? false }
    package var isView: Bool { engine.map { isAlive && !isSuspended && $0.isReadOnly } ?? false }

    func start() {
        releaseFile()
        history.note("p\(index) starts")
        process = WorldProcess(on: history.time)
        link = history.network.link(of: process) { [unowned self] in history.hasNetwork }
        awakeSince = history.time.elapsed
        (shown, isSuspended, hasTrouble) = (nil, false, !disk.full.isEmpty)
        let (time, chance) = (history.time, chance)
        var environment = SyncEnvironment(
            transport: link!, scheduler: process, now: { time.now }, random: { chance.next() })
        environment.storageFault = disk.fault(process)
        if index == 1 { environment.rowsOfSlice = 3 }
        let process = process
        environment.offload = { job in
            process.offload(job, heardAfter: .milliseconds(Int(chance.next() * 90)))
        }
        var configuration = SyncEngine.Configuration(
            database: World.database, cacheFile: history.cacheFile, label: "p\(index)")
        configuration.busyCache = .share(role)
        do throws(SyncError) { engine = try SyncEngine(configuration, environment) } catch {
            history.note("p\(index) cannot start: \(error)")
            process.kill()
            return
        }
        guard process.isAlive else { return }
        listen()
    }

    private func listen() {
        let (process, sink) = (process, WorldBox { [unowned self] in self })
        _ = engine?.listen(SharedHistory.written, .init(includeMetadataChanges: true)) { event in
            guard process.isAlive else { return }
            sink.value().heard(event)
        }
    }

    private func heard(_ event: Result<ViewSnapshot, SyncError>) {
        switch event {
        case .success(let snapshot):
            shown = Dictionary(
                uniqueKeysWithValues: snapshot.documents.map {
                    ($0.document.path, $0.document.contents)
                })
            if isHolder != wasHolder {
                wasHolder = isHolder
                history.note("p\(index) \(isHolder ? "holds" : "views") the cache")
            }
            let missing = own.filter { shown?[$0] == nil }
            if !missing.isEmpty, !hasTrouble {
                history.violate("p\(index) does not show what it wrote: \(missing.sorted())")
            }
        case .failure(.terminated): break
        case .failure(let error): history.violate("p\(index)'s listener failed: \(error)")
        }
    }

    func write(_ write: SharedHistory.Write) {
        guard let engine, isAlive else { return }
        let (process, sink) = (process, WorldBox { [unowned self] in self })
        engine.write(write.mutations) { event in
            guard process.isAlive else { return }
            sink.value().became(event, write)
        }
    }

    private func became(_ event: SyncEngine.WriteEvent, _ write: SharedHistory.Write) {
        history.became(event, write)
        switch event {
        case .journalled:
            if !write.isRefused { own.insert(write.path) }
        case .acknowledged: break
        case .failed: own.remove(write.path)
        }
    }

    func setDisk(isFull: Bool) {
        disk.full = isFull ? [.writeLocally, .acknowledgeBatch, .rejectBatch] : []
        if isFull { hasTrouble = true }
    }

    func suspend() {
        guard isAlive, !isSuspended else { return }
        history.note("p\(index) is suspended")
        isSuspended = true
        engine?.suspend {}
        history.time.runUntilIdle()
    }

    func resume() {
        guard isAlive, isSuspended else { return }
        history.note("p\(index) is resumed")
        isSuspended = false
        awakeSince = history.time.elapsed
        engine?.resume()
        history.time.runUntilIdle()
    }

    func terminate() {
        guard isAlive else { return }
        history.note("p\(index) terminates")
        engine?.terminate {}
        history.time.runUntilIdle()
        guard isAlive else { return }
        process.kill()
        engine = nil
        ended()
    }

    func kill() {
        guard isAlive else { return releaseFile() }
        history.note("p\(index) is killed")
        die()
        releaseFile()
    }

    private func die() {
        process.kill()
        killedEngine = engine
        engine = nil
        ended()
    }

    private func ended() {
        link?.processGone()
        (shown, isSuspended) = (nil, false)
        history.ended(index)
    }

    /// Releases the file of a killed process. The log stays as the kill left it, unless the file
    /// was released before.
    func releaseFile() {
        guard let killedEngine else { return }
        self.killedEngine = nil
        if killedEngine.isReadOnly || history.processes.contains(where: \.isHolder) {
            return killedEngine.abandon()
        }
        // The folder belongs to the history, so an error here fails the test.
        let remains = try! WorldRemains(of: history.cacheFile.dropLast("sqlite".count).description)
        killedEngine.abandon()
        try! remains.putBack()
    }

    func setNetwork(_ isUp: Bool) {
        if isUp { engine?.networkMayBeBack() } else { link?.breakAll(isNoticed: false) }
    }

    /// Returns the number of pending writes; nil if the engine does not answer.
    func countQueue() -> Int? {
        guard let engine, isAlive else { return nil }
        let found = WorldFound<Result<[PendingWrite], SyncError>>()
        engine.pendingWrites { found.value = $0 }
        history.time.runUntilIdle()
        return try? found.value?.get().count
    }
}
