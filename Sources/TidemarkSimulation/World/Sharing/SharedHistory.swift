import TidemarkModel
import TidemarkSync
package import TidemarkTesting

/// A random history of an app and its helpers: processes that share one cache. They write, are
/// killed during any transaction, suspended and restarted, while network and server fail.
///
/// At every moment at most one process holds the cache, and each process shows its own writes. A
/// short time after a write was stored, all running processes show it. At the end the server has
/// every journalled write exactly once, and all processes show the server's data.
package final class SharedHistory {
    package let time = VirtualScheduler()
    let network: WorldNetwork
    let cacheFile: String
    package private(set) var hasNetwork = true
    package private(set) var processes: [SharedProcess] = []
    package private(set) var figures = SharedFigures()
    private let server: WorldServer
    private let files: WorldFiles
    private let seed: UInt64
    private let steps: Int
    private var dice: SeededRandom
    private var writes: [Int: Write] = [:]
    /// The events of each write that its process has received.
    private var events: [Int: [SyncEngine.WriteEvent]] = [:]
    /// The times when writes were journalled, except rejected writes.
    private var journalled: [DocumentPath: Duration] = [:]
    private var entries: [String] = []
    private var violation: WorldViolation?
    private var lastTrouble = Duration.zero

    static let written = Query(collectionID: "written")

    /// A write to its own document and to a counter. The counter reveals a batch that is applied
    /// twice.
    struct Write {
        let number: Int
        let process: Int
        let isRefused: Bool

        var path: DocumentPath { DocumentPath(unchecked: "written/w\(number)") }

        var mutations: [Mutation] {
            let own = Mutation(path: path, .set(["by": .integer(Int64(process))]))
            let count = Mutation(
                path: SharedHistory.counter(process), .patch([:], mask: []),
                transforms: [FieldTransform(FieldPath(name: "n"), .increment(.integer(1)))])
            let last = Mutation(
                path: DocumentPath(unchecked: "last/p\(process)"),
                .set(["number": .integer(Int64(number))]))
            guard isRefused else { return [own, count, last] }
            let missing = Mutation(
                path: DocumentPath(unchecked: "missing/m"), .patch([:], mask: []),
                precondition: .exists(true))
            return [own, count, last, missing]
        }
    }

    fileprivate static func counter(_ process: Int) -> DocumentPath {
        DocumentPath(unchecked: "counts/p\(process)")
    }

    package init(seed: UInt64, steps: Int = 40) throws {
        self.seed = seed
        self.steps = steps
        dice = SeededRandom(seed: seed)
        files = try WorldFiles()
        cacheFile = try files.makeCache("shared", hasUsers: false)
        server = try WorldServer(
            time, folder: files.makeServerFolder(), history: .seconds(3_600), seed: seed &+ 1)
        network = WorldNetwork(time, server, seed: seed &+ 2)
        let roles: [SyncEngine.ProcessRole] = [.app, .helper, dice.chance(50) ? .helper : .app]
        for (index, role) in roles.enumerated() {
            processes.append(
                SharedProcess(
                    index: index, role: role, seed: seed &+ 100 &+ UInt64(index), in: self))
        }
    }

    /// Releases everything, so that nothing outlives the history.
    private func end() {
        for process in processes { process.kill() }
        if server.isUp { server.kill() }
        network.serverGone()
    }

    /// - Throws: ``WorldViolation`` with the rule that was violated.
    package func run() throws {
        defer { end() }
        processes[0].start()
        for _ in 0..<steps {
            act()
            try pass(dice.pick(weighted: pauses))
        }
        try heal()
    }

    private let pauses: [(ClosedRange<Int>, Int)] = [
        (0...20, 4), (20...300, 6), (300...1_500, 4), (1_500...6_000, 2),
    ]

    // MARK: Acts

    private enum Action {
        case write, start, kill, killWithin, suspend, resume, terminate, network, server, disk
    }

    private static let acts: [(Action, Int)] = [
        (.write, 40), (.start, 14), (.kill, 6), (.killWithin, 6), (.suspend, 7), (.resume, 9),
        (.terminate, 2), (.network, 5), (.server, 3), (.disk, 2),
    ]

    private func act() {
        let process = dice.pick(processes)
        switch dice.pick(weighted: Self.acts) {
        case .write: write(process)
        case .start: if !process.isAlive { process.start() }
        case .kill: process.kill()
        case .killWithin:
            process.disk.killing = .init(transactions: 1 + dice.roll(6), commits: dice.chance(50))
        case .suspend: process.suspend()
        case .resume: process.resume()
        case .terminate: process.terminate()
        case .network:
            hasNetwork.toggle()
            note(hasNetwork ? "the network is back" : "the network is gone")
            for process in processes { process.setNetwork(hasNetwork) }
        case .server:
            note(server.isUp ? "the server is killed" : "the server starts")
            if server.isUp {
                server.kill()
                network.serverGone()
            } else {
                startServer()
            }
        case .disk:
            let isFull = process.disk.full.isEmpty
            note("p\(process.index)'s disk is \(isFull ? "full" : "not full any more")")
            process.setDisk(isFull: isFull)
        }
    }

    private func write(_ process: SharedProcess) {
        guard process.isAlive else { return }
        let write = Write(
            number: writes.count, process: process.index, isRefused: dice.chance(8))
        writes[write.number] = write
        note("p\(process.index) writes w\(write.number)\(write.isRefused ? ", to be refused" : "")")
        process.write(write)
    }

    // The folder belongs to the history, so an error here fails the test.
    private func startServer() { if !server.isUp { try! server.start() } }

    private func pass(_ milliseconds: ClosedRange<Int>) throws {
        try pass(dice.milliseconds(milliseconds))
    }

    private func pass(_ duration: Duration) throws {
        // Advances in short slices, because the file of a killed process must be released soon.
        var left = duration
        repeat {
            let slice = min(left, .milliseconds(100))
            time.advance(by: slice)
            for process in processes { process.releaseFile() }
            left -= slice
        } while left > .zero
        look()
        if let violation { throw violation }
    }

    // MARK: What is seen

    func note(_ text: String) { entries.append("\(time.elapsed) \(text)") }

    /// Records a violation. Only the first one counts.
    func violate(_ text: String) {
        note(text)
        if violation == nil { violation = WorldViolation(.convergence, text) }
    }

    func became(_ event: SyncEngine.WriteEvent, _ write: Write) {
        note("w\(write.number): \(event)")
        let before = events[write.number] ?? []
        events[write.number] = before + [event]
        switch event {
        case .journalled:
            if !before.isEmpty { violate("w\(write.number) is journalled after \(before)") }
            if !write.isRefused { journalled[write.path] = time.elapsed }
            if processes[write.process].isView { figures.left += 1 }
        case .acknowledged:
            if write.isRefused { violate("w\(write.number) is acknowledged") }
            if before.count != 1 { violate("w\(write.number) is acknowledged after \(before)") }
            figures.acknowledged += 1
        case .failed(.server(let status)):
            if !write.isRefused { violate("w\(write.number) fails: \(status)") }
        case .failed: break
        }
    }

    func ended(_ process: Int) { figures.ends += 1 }

    /// The longest delay until one process shows another's write. It covers making a copy, electing
    /// a holder, and waiting out a requester that died.
    private static let patience = Duration.seconds(3)

    private func look() {
        let holders = processes.filter(\.isHolder)
        if holders.count > 1 {
            violate("\(holders.map { "p\($0.index)" }) hold the cache at the same time")
        }
        // A holder that cannot write does not drain the inbox and does not release the file when
        // suspended, because the server's responses exist only in its memory.
        if processes.contains(where: { $0.isAlive && $0.hasTrouble }) { lastTrouble = time.elapsed }
        for process in processes where process.isAlive && !process.isSuspended {
            let since = max(process.awakeSince, lastTrouble)
            guard time.elapsed - since > Self.patience, let shown = process.shown else { continue }
            for (path, at) in journalled
            where time.elapsed - at > Self.patience && shown[path] == nil {
                let kind = process.isView ? "views" : "holds"
                return violate(
                    "p\(process.index) \(kind) the cache and shows \(shown.keys.sorted()), without "
                        + "\(path), journalled at \(at)")
            }
            figures.looks += 1
            if process.isView { figures.views += 1 }
        }
    }

    // MARK: The end

    private func heal() throws {
        note("everything is mended")
        network.weather = .calm
        hasNetwork = true
        startServer()
        for process in processes {
            process.setDisk(isFull: false)
            process.disk.killing = nil
            process.setNetwork(true)
            if !process.isAlive { process.start() }
            process.resume()
        }
        var difference: String?
        // Longer than any delay of a process.
        for _ in 0..<300 {
            try pass(.seconds(1))
            difference = self.difference()
            if difference == nil { break }
        }
        if let difference { throw WorldViolation(.convergence, difference) }
        try checkServer()
    }

    private func difference() -> String? {
        guard case .success(let documents) = server.documents(Self.written, in: World.database)
        else { return "the server does not answer" }
        let held = Dictionary(uniqueKeysWithValues: documents.map { ($0.path, $0.contents) })
        for process in processes {
            guard process.isAlive else { return "p\(process.index) cannot start" }
            guard process.shown == held else {
                return "p\(process.index) shows \(process.shown?.count ?? -1) of \(held.count)"
            }
            if process.countQueue() != 0 { return "p\(process.index) has writes pending" }
        }
        return processes.filter(\.isHolder).count == 1 ? nil : "nobody holds the cache"
    }

    private func checkServer() throws {
        for (number, write) in writes {
            let events = events[number] ?? []
            let isThere = try server.document(at: write.path, in: World.database).get() != nil
            let isPromised = !write.isRefused && events.contains(where: \.isJournalled)
            if isPromised, !isThere { throw missing("w\(number) was journalled, and is lost") }
            if write.isRefused, isThere { throw missing("w\(number) was refused, and is there") }
        }
        for process in processes {
            let own = writes.values.filter { $0.process == process.index }
            let there = try own.filter {
                try server.document(at: $0.path, in: World.database).get() != nil
            }
            let counter = try server.document(
                at: Self.counter(process.index), in: World.database
            ).get()?.contents.decoded[FieldPath(name: "n")]
            let expected: Value? = there.isEmpty ? nil : .integer(Int64(there.count))
            guard counter == expected else {
                throw missing(
                    "p\(process.index) has \(there.count) writes there, and counted \(counter as Any)"
                )
            }
            let last = try server.document(
                at: DocumentPath(unchecked: "last/p\(process.index)"), in: World.database
            ).get()?.contents.decoded[FieldPath(name: "number")]
            guard last == there.map(\.number).max().map({ .integer(Int64($0)) }) else {
                throw missing("p\(process.index)'s writes were sent out of order: \(last as Any)")
            }
            figures.writes += there.count
        }
    }

    private func missing(_ text: String) -> WorldViolation { WorldViolation(.convergence, text) }

    /// Returns the text that a test prints for a failed history.
    package func report(_ error: any Error) -> String {
        """
        \(error)
        Again, with the whole log: TIDEMARK_SHARED_SEEDS=\(seed) swift test --filter SharedHistoryTests
        \(entries.suffix(80).joined(separator: "\n"))
        """
    }

    package var log: [String] { entries }
}

/// The counts of a history of processes that share a cache.
package struct SharedFigures: Equatable, Sendable {
    /// The writes on the server at the end, and the writes acknowledged to their process.
    package var (writes, acknowledged) = (0, 0)
    /// The writes of processes that only viewed the cache.
    package var left = 0
    /// The number of comparisons of a process's rows with the writes, and the number of those in
    /// which the process only viewed the cache.
    package var (looks, views) = (0, 0)
    /// The number of kills and other ends.
    package var ends = 0

    package init() {}

    package static func += (sum: inout SharedFigures, other: SharedFigures) {
        sum.writes += other.writes
        sum.acknowledged += other.acknowledged
        sum.left += other.left
        sum.looks += other.looks
        sum.views += other.views
        sum.ends += other.ends
    }
}

extension SyncEngine.WriteEvent {
    fileprivate var isJournalled: Bool { if case .journalled = self { true } else { false } }
}
