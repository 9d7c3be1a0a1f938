import Foundation

/// Runs the workload with which Google's own client was measured through our engine, beside
/// Google's figures and raw SQLite in the same run; or with an encrypted cache beside a plain one.
/// This program starts itself for each part.
struct ClientSuite {
    /// The two sides of a comparison.
    enum Comparison: String {
        case client, encryption

        fileprivate var sides: [Side] { self == .client ? [.ours, .raw] : [.encrypted, .ours] }
        /// The maximum ratio of the first side's time to the second's.
        fileprivate var worstRatio: Double {
            self == .client ? ClientFigure.worstRatio : ClientFigure.worstEncryptedRatio
        }
    }

    var comparison = Comparison.client
    let count: Int
    let folder: URL
    let only: [String]
    let report: Report

    /// A folder in memory, where a sync costs nothing; nil if the system has none.
    private static let memory: URL? = {
        let place = URL(filePath: "/dev/shm")
        return FileManager.default.isWritableFile(atPath: place.path) ? place : nil
    }()

    fileprivate enum Side: String {
        case ours, raw, encrypted

        var arguments: [String] {
            switch self {
            case .ours: []
            case .raw: ["--client-raw"]
            case .encrypted: ["--client-encrypted"]
            }
        }
    }

    /// - Returns: True if all limits hold.
    func run() throws -> Bool {
        let sizes = ClientFigure.sizes.filter { $0 <= count }
        var samples: [Int: Samples] = [:]
        for round in 0..<Self.rounds {
            for size in sizes {
                try measure(size, round: round, into: &samples[size, default: [:]])
            }
        }
        var allHold = true
        for size in sizes {
            for figure in ClientFigure.all {
                let rounds = comparison.sides.map { samples[size]?[$0]?[figure.step] }
                if let missing = missing(of: figure, size: size, in: rounds) {
                    report.add(
                        missing: missing, of: figure.step, suite: comparison.rawValue, count: size)
                    allHold = false
                }
                guard let ours = rounds[0] else { continue }
                let line = ClientLine(comparison, figure, count: size, rounds: ours, raw: rounds[1])
                report.add(line)
                if !line.holds { allHold = false }
            }
        }
        return allHold
    }

    /// Returns the missing part of a step, samples or yardstick; nil if the step is complete or
    /// only some parts were run.
    private func missing(
        of figure: ClientFigure, size: Int, in rounds: [[Double]?]
    ) -> String? {
        guard only.isEmpty, figure.isMeasured(of: size) else { return nil }
        if rounds[0]?.isEmpty ?? true { return "samples" }
        let isAlone = rounds[1]?.isEmpty ?? true
        return isAlone && figure.hasYardstick(comparison) ? "yardstick" : nil
    }

    private typealias Samples = [Side: [String: [Double]]]

    /// The number of times that each part is measured. The parts, sizes and sides alternate,
    /// because a shared machine changes its speed from one second to the next, and keeps it for
    /// some seconds.
    private static let rounds = 15

    /// Returns true for every other round. These rounds also load documents, which takes the
    /// longest.
    private static func isLoading(_ round: Int) -> Bool { round.isMultiple(of: 2) }

    private func measure(_ size: Int, round: Int, into samples: inout Samples) throws {
        let parts: [ClientPart] = [.coldQuery, .coldPoint, .warm, .writes]
        for part in (Self.isLoading(round) ? [.load, .fill] : []) + parts
        where only.isEmpty || only.contains(where: part.rawValue.hasPrefix) {
            for side in comparison.sides {
                let place = try place(of: part, side, size: size)
                if part == .writes {
                    let isLastUse = round == Self.rounds - 1 || Self.isLoading(round + 1)
                    try writes(side, size: size, at: place, isLastUse: isLastUse, into: &samples)
                } else {
                    samples[side, default: [:]].add(try child(part, side, size: size, at: place))
                }
            }
        }
    }

    /// Returns the folder of a part. Each load has a separate folder; the steps after it share the
    /// last filled folder.
    private func place(of part: ClientPart, _ side: Side, size: Int) throws -> URL {
        let filled = folder.appending(path: "client-\(size)-\(side)")
        let place = part == .load ? folder.appending(path: UUID().uuidString) : filled
        if part == .fill { try? FileManager.default.removeItem(at: place) }
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return place
    }

    /// Measures writes on a copy in memory. At the last use of the filled folder, also measures
    /// them there, with the disk's syncs.
    private func writes(
        _ side: Side, size: Int, at place: URL, isLastUse: Bool, into samples: inout Samples
    ) throws {
        if let memory = Self.memory {
            let copy = memory.appending(path: UUID().uuidString)
            try FileManager.default.copyItem(at: place, to: copy)
            defer { try? FileManager.default.removeItem(at: copy) }
            samples[side, default: [:]].add(try child(.writes, side, size: size, at: copy))
        }
        guard isLastUse else { return }
        for sample in try child(.writes, side, size: size, at: place) {
            if sample.step == "g_write" {
                samples[side, default: [:]].add([ClientSample("g_write_synced", sample.value)])
            } else if Self.memory == nil {
                samples[side, default: [:]].add([sample])
            }
        }
    }

    private func child(
        _ part: ClientPart, _ side: Side, size: Int, at place: URL
    ) throws -> [ClientSample] {
        let samples = try BenchmarkChild.samples(
            [
                "client", "--client-part", part.rawValue, "--count", String(size),
                "--client-folder", place.path,
            ] + side.arguments)
        if part == .load { try FileManager.default.removeItem(at: place) }
        return samples
    }

    /// Runs a part in a child process.
    static func run(
        _ part: ClientPart, raw: Bool, isEncrypted: Bool, count: Int, folder: String
    ) throws {
        let workload = Workload(count: count)
        let folder = URL(filePath: folder)
        var samples =
            raw
            ? RawSteps(workload: workload, folder: folder).run(part)
            : try ClientEngine.$isEncrypted.withValue(isEncrypted) {
                try EngineSteps(workload: workload, folder: folder).run(part)
            }
        samples.append(ClientSample(part.processorStep, OwnProcessor.seconds))
        try BenchmarkChild.report(samples)
    }
}

extension [String: [Double]] {
    fileprivate mutating func add(_ samples: [ClientSample]) {
        for sample in samples { self[sample.step, default: []].append(sample.value) }
    }
}

/// A reported figure: a line of JSON.
struct ClientLine: Encodable {
    let suite: String
    let step: String
    let n: Int
    /// The figure of the fastest round.
    let figure: Double
    /// The median of all rounds.
    let median: Double
    let unit: String
    /// The figure of Google's client core without configuration: peer-client-perf.md.
    let peer: Double?
    /// The same with a filled index that was created by hand.
    let peerIndexed: Double?
    /// The fastest round in the same run of raw SQLite, or of a plain cache in a comparison of
    /// encryption.
    let raw: Double?
    let rawMedian: Double?
    /// The ratio of the figure to ``raw``.
    let ratio: Double?
    /// The limit of the figure.
    let limit: Double?
    /// The limit of the ratio.
    let ratioLimit: Double?
    let holds: Bool

    /// - Parameters:
    ///   - rounds: The measured figure of each round.
    ///   - rawRounds: The yardstick's figure of each round.
    init(
        _ comparison: ClientSuite.Comparison, _ figure: ClientFigure, count: Int,
        rounds: [Double], raw rawRounds: [Double]?
    ) {
        suite = comparison.rawValue
        let value = figure.best(of: rounds)
        let raw = rawRounds.map(figure.best)
        step = figure.step
        n = count
        self.figure = value
        median = rounds.median
        unit = figure.unit
        peer = figure.peer(of: count)
        peerIndexed = figure.peerIndexed(of: count)
        self.raw = raw
        rawMedian = rawRounds?.median
        ratio = raw.map { figure.ratio(value, $0) }
        let bar = comparison == .client ? figure.bar(of: count) : nil
        limit = bar?.limit
        ratioLimit = figure.isRatioBar && raw != nil ? comparison.worstRatio : nil
        holds = bar?.holds(value) ?? true && (ratioLimit == nil || ratio! <= ratioLimit!)
    }
}
