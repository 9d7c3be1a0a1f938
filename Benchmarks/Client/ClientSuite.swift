import Foundation

/// The workload that Google's own client was measured with, through our engine, beside its figures
/// and beside raw SQLite in the same run. This program starts itself for each part of it.
struct ClientSuite {
    let count: Int
    let folder: URL
    let only: [String]
    let report: Report

    private static let program =
        Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
    /// In memory, where a sync costs nothing; nil where the system has no such place.
    private static let memory: URL? = {
        let place = URL(filePath: "/dev/shm")
        return FileManager.default.isWritableFile(atPath: place.path) ? place : nil
    }()

    private enum Side: String { case ours, raw }

    /// - Returns: Whether all thresholds hold.
    func run() throws -> Bool {
        var allHold = true
        for size in ClientFigure.sizes where size <= count {
            let samples = try measure(size)
            for figure in ClientFigure.all {
                guard let ours = samples[.ours]?[figure.step] else { continue }
                let line = ClientLine(
                    figure, count: size, ours.median, raw: samples[.raw]?[figure.step]?.median)
                report.add(line)
                if !line.holds { allHold = false }
            }
        }
        return allHold
    }

    private typealias Samples = [Side: [String: [Double]]]

    /// How often a part is measured: by turns with raw SQLite, because a machine that others share changes
    /// its speed from one second to the next. The median counts, of either.
    private enum Rounds {
        static let fills = 3, warm = 5, writes = 5
        /// Where most of a run is the start of a program.
        static let starts = 9
    }

    private func measure(_ size: Int) throws -> Samples {
        var samples: Samples = [:]
        func add(_ part: ClientPart, rounds: Int) throws {
            guard only.isEmpty || only.contains(part.rawValue) else { return }
            for _ in 0..<rounds {
                for side in [Side.ours, .raw] {
                    for sample in try child(part, side, size, place(part, side, size)) {
                        samples[side, default: [:]][sample.step, default: []].append(sample.value)
                    }
                }
            }
        }
        try add(.load, rounds: Rounds.fills)
        try add(.fill, rounds: Rounds.fills)
        try add(.coldQuery, rounds: Rounds.starts)
        try add(.coldPoint, rounds: Rounds.starts)
        try add(.warm, rounds: Rounds.warm)
        if only.isEmpty || only.contains(ClientPart.writes.rawValue) {
            try writes(size, &samples)
        }
        return samples
    }

    /// Each load has a folder of its own; the steps after it share what was filled last.
    private func place(_ part: ClientPart, _ side: Side, _ size: Int) throws -> URL {
        let filled = folder.appending(path: "client-\(size)-\(side)")
        let place = part == .load ? folder.appending(path: UUID().uuidString) : filled
        if part == .fill { try? FileManager.default.removeItem(at: place) }
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return place
    }

    /// On copies in memory, and with the disk's syncs after that.
    private func writes(_ size: Int, _ samples: inout Samples) throws {
        for _ in 0..<Rounds.writes {
            for side in [Side.ours, .raw] {
                guard let memory = Self.memory else { continue }
                let copy = memory.appending(path: UUID().uuidString)
                try FileManager.default.copyItem(at: place(.writes, side, size), to: copy)
                defer { try? FileManager.default.removeItem(at: copy) }
                for sample in try child(.writes, side, size, copy) {
                    samples[side, default: [:]][sample.step, default: []].append(sample.value)
                }
            }
        }
        for side in [Side.ours, .raw] {
            for sample in try child(.writes, side, size, place(.writes, side, size))
            where sample.step != "g_write_unread" {
                let step = sample.step == "g_write" ? "g_write_synced" : sample.step
                if samples[side]?[step] == nil {
                    samples[side, default: [:]][step] = [sample.value]
                }
            }
        }
    }

    private func child(
        _ part: ClientPart, _ side: Side, _ size: Int, _ place: URL
    ) throws -> [ClientSample] {
        let process = Process()
        process.executableURL = Self.program
        process.arguments =
            [
                "client", "--client-part", part.rawValue, "--count", String(size),
                "--client-folder",
                place.path,
            ] + (side == .raw ? ["--client-raw"] : [])
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let lines = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ClientPartError(part: part) }
        if part == .load { try FileManager.default.removeItem(at: place) }
        return try lines.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(ClientSample.self, from: $0)
        }
    }

    /// What a child process does.
    static func run(_ part: ClientPart, raw: Bool, count: Int, folder: String) throws {
        let workload = Workload(count: count)
        let folder = URL(filePath: folder)
        let samples =
            raw
            ? RawSteps(workload: workload, folder: folder).run(part)
            : try EngineSteps(workload: workload, folder: folder).run(part)
        for sample in samples {
            print(String(decoding: try JSONEncoder().encode(sample), as: UTF8.self))
        }
    }
}

struct ClientPartError: Error, CustomStringConvertible {
    let part: ClientPart
    var description: String { "The part \"\(part.rawValue)\" of the client's workload failed." }
}

/// A figure as it is reported: a line of JSON.
struct ClientLine: Encodable {
    var suite = "client"
    let step: String
    let n: Int
    let figure: Double
    let unit: String
    /// Google's client core, as it comes: peer-client-perf.md.
    let peer: Double?
    /// The same reads and inserts in raw SQLite, in the same run.
    let raw: Double?
    /// How many times as long as raw SQLite.
    let ratio: Double?
    /// What the figure must reach.
    let limit: Double?
    /// What the ratio must not exceed.
    let ratioLimit: Double?
    let holds: Bool

    init(_ figure: ClientFigure, count: Int, _ value: Double, raw: Double?) {
        step = figure.step
        n = count
        self.figure = value
        unit = figure.unit
        peer = figure.peer(of: count)
        self.raw = raw
        ratio = raw.map { figure.ratio(value, $0) }
        let bar = figure.bar(of: count)
        limit = bar?.limit
        ratioLimit = figure.isRatioBar && raw != nil ? ClientFigure.worstRatio : nil
        holds = bar?.holds(value) ?? true && (ratioLimit == nil || ratio! <= ratioLimit!)
    }
}
