@testable import TidemarkFiles

/// A system that sends chunks, and processes of an app that start, are killed and start again.
struct BackgroundPlay {
    private struct File {
        /// The session in the journal; nil before the first.
        var session: String?
        var isDone = false
    }

    private var random: ModelDice
    private let waits: Bool
    private var files: [Int64: File] = [1: File(), 2: File(), 3: File()]
    /// The chunks that are on their way. They outlive processes.
    private var system: [Int: BackgroundChunks.Chunk] = [:]
    private var asked: Set<Int> = []
    private var last = 0
    private var machine = BackgroundChunks()
    private(set) var faults: [String] = []
    private(set) var kills = 0
    private(set) var reattached = 0
    private(set) var cancelled = 0

    /// - Parameter waits: False plants a defect: uploads do not wait for found chunks.
    init(seed: UInt64, waits: Bool = true) {
        random = ModelDice(seed)
        self.waits = waits
    }

    mutating func run() {
        for _ in 0..<60 { step() }
        settle()
    }

    private mutating func step() {
        let file = Int64(random.below(3)) + 1
        switch random.below(10) {
        case 0:
            machine = BackgroundChunks()
            asked = []
            kills += 1
        case 1, 2: if !machine.isKnown { launch() }
        case 3: files[file]?.session = "session \(random.below(1_000_000))"
        case 4: files[file]?.isDone = random.below(4) == 0
        case 5, 6: send(file)
        case 7: compare()
        default: endOne()
        }
    }

    private mutating func launch() {
        reattached += system.count
        perform(machine.step(.found(system.mapValues { $0 })))
    }

    private mutating func send(_ number: Int64) {
        guard let file = files[number], !file.isDone else { return }
        if waits, machine.holds(number, of: "61") { return }
        // A run of this process sends one chunk after the other.
        if !waits, !machine.isKnown { return }
        let own = system.contains { $0.value.file == number && machine.found[$0.key] == nil }
        if own { return }
        let session = file.session ?? "session of \(number)"
        files[number]?.session = session
        var chunk = BackgroundChunks.Chunk(user: [0x61], file: number, address: "", offset: 0)
        chunk.session = session
        if system.values.contains(where: { $0.session == session }) {
            faults.append("\(session) receives two requests")
        }
        last += 1
        system[last] = chunk
        perform(machine.step(.started(last)))
    }

    private mutating func compare() {
        for number in Set(machine.found.values.map(\.file)).sorted() {
            guard let file = files[number] else { continue }
            let session = file.isDone ? nil : file.session
            perform(machine.step(.row(file: number, user: "61", session: session)))
        }
    }

    private mutating func endOne() {
        guard let number = system.keys.sorted().randomElement(using: &random) else { return }
        end(number)
    }

    private mutating func end(_ number: Int) {
        system[number] = nil
        perform(machine.step(.ended(number)))
    }

    private mutating func perform(_ effects: [BackgroundChunks.Effect]) {
        for case .cancel(let number) in effects {
            cancelled += 1
            asked.insert(number)
        }
    }

    /// Lets every wait end: what was cancelled ends, and nothing is held.
    private mutating func settle() {
        if !machine.isKnown { launch() }
        compare()
        for number in machine.found.keys.sorted() { perform(machine.step(.late(number))) }
        for number in asked.sorted() where system[number] != nil { end(number) }
        for number in files.keys where machine.holds(number, of: "61") {
            faults.append("file \(number) is held for ever")
        }
    }
}
