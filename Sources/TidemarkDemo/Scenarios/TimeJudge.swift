import ArgumentParser
import Foundation
import Synchronization
import TidemarkSystem

/// The options that make a demo fail if its times are too long.
struct TimeOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Also fail if a time is over its limit, for a run whose figures are kept.",
            discussion: """
                Plays the networks one after another, and runs a fixed loop before and after \
                each figure. The limits are for a release build. Waits up to three minutes for a \
                load of at most 0.7 per core, and keeps no figures of a busier machine.
                """))
    var judgeTimes = false

    /// Plays a demo, and judges its times if the option is set.
    ///
    /// - Throws: ``BusyMachine``, and the errors of `body`.
    func play<Figures: Sendable>(
        _ body: () async throws -> Figures
    ) async throws -> (figures: Figures, judge: TimeJudge?) {
        guard judgeTimes else { return (try await body(), nil) }
        let judge = TimeJudge()
        try await TimeJudge.untilQuiet()
        return (try await TimeJudge.$current.withValue(judge) { try await body() }, judge)
    }
}

/// The duration of a fixed loop before and after a measurement, in milliseconds.
struct MachineSpeed: Hashable, Sendable, Encodable {
    let beforeMs: Double
    let afterMs: Double
}

/// The conditions for keeping the figures of a run: the machine does nothing else, and is equally
/// fast at each figure.
final class TimeJudge: Sendable {
    /// The maximum load per core, on average over the last minute.
    static let mostLoad = 0.7
    /// The maximum ratio of a loop's time to the fastest loop of the run.
    static let mostSlowdown = 1.3
    /// The maximum share of the figures that were taken beside slower loops.
    static let mostSlowFigures = 0.1
    /// The minimum time of a loop that the compiler has kept: 30 million operations, each of which
    /// waits for the previous one, take 5 ms at 6 GHz.
    static let leastLoopMs = 1.0
    /// The maximum number of seconds to wait for a quiet machine.
    private static let patience = 180

    /// The judge of the running demo; nil if times are not judged.
    @TaskLocal static var current: TimeJudge?

    private let speeds = Mutex<[MachineSpeed]>([])

    /// Returns when the machine's load is low enough.
    ///
    /// - Throws: ``BusyMachine`` after three minutes.
    static func untilQuiet() async throws {
        for second in 0...patience {
            guard let load = load(), load > mostLoad else { return }
            if second == patience { throw BusyMachine(load: load) }
            ProgressLine.show("waiting for a quiet machine: \(Bar.number(load)) of each core")
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Returns the average load per core over the last minute, 1 for full load; nil if the system
    /// does not report it.
    static func load() -> Double? {
        var averages = [0.0]
        guard getloadavg(&averages, 1) == 1 else { return nil }
        return averages[0] / Double(ProcessInfo.processInfo.activeProcessorCount)
    }

    /// Runs `body` between two loops. The loops are omitted if times are not judged.
    static func timed<Figure: Sendable>(
        _ body: () async throws -> Figure
    ) async rethrows -> (figure: Figure, speed: MachineSpeed?) {
        guard let judge = current else { return (try await body(), nil) }
        let before = loop()
        let figure = try await body()
        let speed = MachineSpeed(beforeMs: before, afterMs: loop())
        judge.speeds.withLock { $0.append(speed) }
        return (figure, speed)
    }

    /// Returns the time of the fastest of nine loops, in milliseconds. An interruption slows one
    /// loop, and other work slows all nine.
    static func loop() -> Double {
        var fastest = Duration.seconds(3_600)
        for _ in 0..<9 {
            let start = ContinuousClock.now
            shift(5_000_000)
            fastest = min(fastest, .now - start)
        }
        return fastest.milliseconds
    }

    /// The value that the loops change. It is stored after each loop, so that the compiler cannot
    /// compute it elsewhere or once for all loops.
    private static let shifted = Atomic<UInt64>(88_172_645_463_325_252)

    /// Computes shifts and exclusive ors, each of which depends on the previous result.
    @inline(never)
    private static func shift(_ steps: Int) {
        var value = shifted.load(ordering: .relaxed)
        for _ in 0..<steps {
            value ^= value << 13
            value ^= value >> 7
            value ^= value << 17
        }
        shifted.store(value, ordering: .relaxed)
    }

    /// The reason why the figures must not be kept; nil if they can be kept.
    var refusal: String? { Self.refusal(of: speeds.withLock { $0 }) }

    static func refusal(of speeds: [MachineSpeed]) -> String? {
        guard let fastest = speeds.flatMap({ [$0.beforeMs, $0.afterMs] }).min() else { return nil }
        if fastest < leastLoopMs {
            return
                "The fixed loop took \(fastest) ms, which no processor can do, so the speed of the "
                + "machine is unknown. The figures are not kept."
        }
        let limit = mostSlowdown * fastest
        let slowBefore = speeds.count { $0.beforeMs > limit }
        let slow = speeds.count { max($0.beforeMs, $0.afterMs) > limit }
        if Double(slow) <= mostSlowFigures * Double(speeds.count) { return nil }
        return
            "The machine was more than \(Bar.number(mostSlowdown)) times slower beside \(slow) of "
            + "\(speeds.count) figures than at its best: before \(slowBefore) of them, and after "
            + "the others. The figures are not kept."
    }
}

/// The error if the machine is too busy to judge times.
struct BusyMachine: Error, CustomStringConvertible {
    /// The load per core.
    let load: Double

    var description: String {
        "Times need an idle machine: the load is \(Bar.number(load)) per core, "
            + "but the limit is \(Bar.number(TimeJudge.mostLoad))."
    }
}
