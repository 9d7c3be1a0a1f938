import Foundation
import TidemarkPhones
import Synchronization

/// A device on which somebody signs up, and whose app is killed at one step.
struct SignUpDevice: Sendable {
    /// A launch that shows nothing the person can use for longer is a dead end: 10 s by journeys 5, and
    /// what starting a process takes on a busy machine.
    static let patience = Duration.seconds(14)
    /// For the launch on a good network.
    static let finalPatience = Duration.seconds(40)

    let network: LaunchNetwork
    let side: Side
    let killAt: Int
    let folder: URL

    /// How many there are; a network may let fewer be reached.
    static func steps(of side: Side) -> Int { side == .before ? 3 : 10 }

    private var name: String { "\(network.rawValue)-\(side.rawValue)-\(killAt)" }

    func play(_ gates: LaunchGates) async -> SignUpOutcome {
        var outcome = SignUpOutcome(device: self)
        guard let place = gates.places[network] else { return outcome }
        let first = await launch(
            place, network.label(side == .before ? .before : .after), killAt: killAt, Self.patience)
        outcome.note("sign-up", first)
        outcome.wasKilledAtStep = first.wasKilledAtStep
        if !first.isUsable, !first.wasKilledAtStep { outcome.isDeadEnd = true }
        let second = await launch(
            place, network.label(side == .before ? .before : .after), killAt: 0, Self.patience)
        outcome.note("again", second)
        if !second.isUsable { outcome.isDeadEnd = true }
        let last = await launch(
            gates.direct, "mended", killAt: 0, Self.finalPatience, untilLive: true)
        outcome.note("mended", last)
        outcome.isLive = last.isLive
        if !last.isLive, !last.isUsable { outcome.isDeadEnd = true }
        return outcome
    }

    private func launch(
        _ place: LaunchPlace, _ label: String, killAt: Int, _ patience: Duration,
        untilLive: Bool = false
    ) async -> SignUpRun {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [
            "demo", "signup-app", "--side", side.rawValue, "--firestore", place.firestore,
            "--accounts", place.accounts, "--email", "\(name)@example.test", "--label", label,
            "--kill-at", "\(killAt)", "--folder",
            folder.appendingPathComponent("devices/" + name).path,
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let run = RunningLaunch(process, untilLive: untilLive)
        output.fileHandleForReading.readabilityHandler = { handle in
            run.heard(handle.availableData)
        }
        let deadline = Task {
            try await Task.sleep(for: patience)
            run.end()
        }
        let result = await run.result()
        deadline.cancel()
        output.fileHandleForReading.readabilityHandler = nil
        return result
    }
}

/// What one launch came to.
struct SignUpRun: Sendable {
    var lines: [String] = []
    var isLive = false
    /// Whether the person could do something, or all was well.
    var isUsable = false
    var wasKilledAtStep = false
}

/// One process, from its start to its end, which is a kill unless it ends by itself.
private final class RunningLaunch: Sendable {
    private struct State {
        var run = SignUpRun()
        var rest = Data()
        var isEnded = false
    }

    private let process: Process
    private let untilLive: Bool
    private let state = Mutex(State())

    init(_ process: Process, untilLive: Bool) {
        self.process = process
        self.untilLive = untilLive
    }

    func result() async -> SignUpRun {
        await withCheckedContinuation { continuation in
            process.terminationHandler = { [self] process in
                let run = state.withLock { state in
                    // By its own hand, and not by ours.
                    state.run.wasKilledAtStep =
                        process.terminationReason == .uncaughtSignal && !state.isEnded
                    return state.run
                }
                continuation.resume(returning: run)
            }
            do { try process.run() } catch {
                process.terminationHandler = nil
                continuation.resume(returning: SignUpRun())
            }
        }
    }

    func heard(_ data: Data) {
        let isOver = state.withLock { state in
            state.rest += data
            while let end = state.rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: state.rest[..<end], as: UTF8.self)
                state.rest = Data(state.rest[(end + 1)...])
                state.run.lines.append(line)
                if line.hasPrefix("live ") { (state.run.isLive, state.run.isUsable) = (true, true) }
                if line.hasPrefix("usable ") { state.run.isUsable = true }
            }
            return state.run.isLive || (state.run.isUsable && !untilLive)
        }
        if isOver { end() }
    }

    /// The system, or the person, ends the app without asking it.
    func end() {
        state.withLock { $0.isEnded = true }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}

/// What came of one device.
struct SignUpOutcome: Sendable {
    let device: SignUpDevice
    var wasKilledAtStep = false
    var isDeadEnd = false
    var isLive = false
    private var parts: [String] = []

    init(device: SignUpDevice) { self.device = device }

    mutating func note(_ name: String, _ run: SignUpRun) {
        parts.append("  \(name): " + run.lines.joined(separator: " | "))
    }

    var story: String {
        let end = isLive ? "live" : isDeadEnd ? "DEAD END" : "not live"
        return
            "\(device.network.rawValue) \(device.side.rawValue) killed at \(device.killAt): \(end)\n"
            + parts.joined(separator: "\n")
    }
}
