import TidemarkModel
import TidemarkServer

/// A server, its commits and its listening streams, all from one seed.
struct CheckedWorld {
    private let machine = TestMachine()
    /// The folder of the server's data; nil for a server in memory. A restart of a server in memory
    /// loses the data, and tokens refer to the lost data.
    private let folder: TemporaryFolder?
    private let history: Duration
    private var server: TestServer
    private var truth: Truth
    private let streams: [CheckedStream]
    private var dice: RandomListens
    private var waiting: [(mutations: [Mutation], heard: Heard<Reply>)] = []

    init(seed: UInt64) throws {
        dice = RandomListens(random: SeededRandom(seed: seed))
        folder = dice.chance(10) ? try TemporaryFolder() : nil
        history = .seconds(20 + dice.below(380))
        server = try TestServer(directory: folder?.path, history: history, machine: machine)
        truth = Truth(database: server.database)
        var streams: [CheckedStream] = []
        for _ in 0..<1 + dice.below(3) {
            var targets: [CheckedTarget] = []
            for id in 1...1 + dice.below(3) {
                targets.append(CheckedTarget(id: Int32(id), kind: dice.target()))
            }
            streams.append(CheckedStream(targets))
        }
        self.streams = streams
    }

    mutating func run(steps: Int) throws {
        for _ in 0..<steps {
            passTime()
            if dice.chance(3) { try restart() }
            for _ in 0..<(dice.chance(20) ? 3 : 1) where dice.chance(80) { commit() }
            for stream in streams { ask(stream) }
            try turn()
            for stream in streams where dice.chance(75) { try hear(stream) }
            if dice.chance(35) { try becomeQuiet() }
        }
        for stream in streams where !stream.isOpen { open(stream) }
        try becomeQuiet()
    }

    private mutating func passTime() {
        switch dice.below(10) {
        case 0: machine.advance(.milliseconds(-dice.below(3_000)))
        case 1: machine.advance(.seconds(dice.below(600)))
        default: machine.advance(.milliseconds(dice.below(9_000)))
        }
    }

    private mutating func restart() throws {
        server.server.close()
        for stream in streams {
            try hear(stream)
            stream.cut()
        }
        if folder == nil { loseData() }
        server = try TestServer(directory: folder?.path, history: history, machine: machine)
    }

    private mutating func loseData() {
        truth = Truth(database: server.database)
        // A token shows to which data it belongs; a time does not.
        for target in streams.flatMap(\.targets) {
            for index in target.points.indices { target.points[index].readTime = nil }
        }
    }

    private mutating func commit() {
        let mutations = dice.mutations { [truth] in truth.document(at: $0, .max) }
        let heard = Heard<Reply>()
        let request = CommitRequest(mutations: mutations)
        _ = server.server.call(.commit(request), server.context()) { heard.receive($0) }
        waiting.append((mutations, heard))
    }

    /// Lets the server perform the requests, and records the results of the commits.
    private mutating func turn() throws {
        machine.run()
        for (mutations, heard) in waiting {
            guard case .commit(let reply)? = heard.messages.first else {
                let code = heard.status?.code
                if code == .notFound || code == .alreadyExists { continue }
                throw Violation("a commit ended with \(heard.status.map { "\($0)" } ?? "nothing")")
            }
            let read = BatchGetDocumentsRequest(
                paths: Array(Set(mutations.map(\.path))), consistency: .at(reply.commitTime))
            let rows = try server.replies(.batchGetDocuments(read)).compactMap { reply in
                if case .batchGetDocuments(let result) = reply { result.row } else { nil }
            }
            try truth.commit(
                at: reply.commitTime,
                rows.map { row in
                    switch row {
                    case .found(let document): (document.path, document)
                    case .missing(let path): (path, nil)
                    }
                })
        }
        waiting = []
    }

    /// The last requests and responses of every stream.
    var log: String {
        streams.enumerated().map { index, stream in
            "stream \(index): " + stream.log.suffix(60).joined(separator: ", ")
        }.joined(separator: "\n")
    }

    // MARK: - Streams

    private mutating func ask(_ stream: CheckedStream) {
        guard stream.isOpen else {
            if dice.chance(50) { open(stream) }
            return
        }
        if dice.chance(8) { return stream.cut() }
        for target in stream.targets {
            if target.isListening {
                guard dice.chance(4), target.isActive, !target.isOnce else { continue }
                stream.remove(target)
                // Clients can send both requests before any answer.
                if dice.chance(50) { listen(to: target, stream) }
            } else if dice.chance(30) {
                listen(to: target, stream)
            }
        }
    }

    private mutating func open(_ stream: CheckedStream) {
        stream.open(server)
        for target in stream.targets where dice.chance(80) { listen(to: target, stream) }
    }

    private mutating func listen(to target: CheckedTarget, _ stream: CheckedStream) {
        target.isOnce = dice.chance(6)
        if dice.chance(2), target.pendingAcks == 0 {
            target.expectsRefusal = true
            return stream.add(target, .token([1, 2, 3]), expecting: nil)
        }
        let older = dice.chance(40) ? dice.below(target.points.count + 1) : 0
        guard let point = target.points.dropLast(older).last, !dice.chance(10) else {
            target.reset()
            return stream.add(target, .fromScratch, expecting: nil)
        }
        target.held = point.held
        target.points = []
        var count: Int32?
        if dice.chance(50) { count = Int32(point.held.count) }
        if dice.chance(5) { count = Int32(point.held.count + 1 + dice.below(3)) }
        if let time = point.readTime, dice.chance(30) {
            stream.add(target, .readTime(time), expecting: count)
        } else {
            stream.add(target, .token(point.token), expecting: count)
        }
    }

    private mutating func hear(_ stream: CheckedStream) throws {
        try stream.hear(truth, limit: dice.chance(6) ? dice.below(12) : nil)
    }

    /// Delivers all messages until no request is left, and then compares the targets with queries.
    private mutating func becomeQuiet() throws {
        for _ in 0..<4 {
            try turn()
            for stream in streams { try stream.hear(truth) }
        }
        for stream in streams {
            try stream.checkQuiet(truth)
            guard let time = stream.lastBoundary else { continue }
            for target in stream.targets where target.isCurrent {
                try compare(target, at: time)
            }
        }
    }

    private func compare(_ target: CheckedTarget, at time: Timestamp) throws {
        guard case .query(let query) = target.kind else { return }
        let oldest = machine.now.advanced(by: .zero - history + .seconds(10))
        let rows = try server.query(query, at: time > oldest ? .at(time) : .latest)
            .compactMap(\.document)
        if Dictionary(uniqueKeysWithValues: rows.map { ($0.path, $0) }) != target.held {
            throw Violation("target \(target.id) (\(query)) is not what the query returns")
        }
    }
}
