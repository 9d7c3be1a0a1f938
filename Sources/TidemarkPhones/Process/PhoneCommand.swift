package import ArgumentParser
import Dispatch
import ExampleKit
import Foundation
import Synchronization
import Tidemark
import TidemarkApp

/// A phone of a show or a demo in its own process: an app that reports its screens on standard
/// output and takes orders from standard input.
package struct PhoneCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "phone", abstract: "Run one phone of a show or a demo.", shouldDisplay: false)

    @Argument(help: "The app's name.") var app: String
    @Option(help: "Which phone: before or after.") var side: String
    @Option(help: "Seconds by which its clock is ahead.") var clock = 0.0
    @Option(help: "Its settings, as JSON.") var settings: String
    @Option(help: "Time of the launch request, as JSON.")
    var asked: String?
    @Option(help: "The step of a sign-up at which the process kills itself; 0 for none.")
    var killAt = 0

    package init() {}

    package func run() async throws {
        let start =
            asked.flatMap { JSONLine.decode(ContinuousClock.Instant.self, Data($0.utf8)) } ?? .now
        guard let example = Examples.named(app), let side = PhoneSide(rawValue: side),
            let settings = JSONLine.decode(PhoneSettings.self, Data(settings.utf8))
        else { throw ValidationError("A phone needs an app, a side and settings.") }
        let ahead = PhoneClock(clock)
        let environment = PhoneEnvironment(
            settings, now: { Date(timeIntervalSinceNow: ahead.seconds.withLock { $0 }) })
        let type = side == .before ? example.before : example.after
        Self.say(.begins((ContinuousClock.now - start) / .milliseconds(1)))
        // The app's client has the phone's clock too: it judges by it if its listeners can resume.
        let phone = try DeviceClock.$ahead.withValue(.seconds(clock)) {
            try TidemarkStack.$probe.withValue(JobProbe(probe())) {
                try type.init(environment)
            }
        }
        let orders = Self.orders()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await Self.notify(phone, since: start) }
            group.addTask {
                for await order in orders { await Self.obey(order, phone: phone, ahead: ahead) }
                // The parent has sent the order to close, or has ended.
                await phone.close()
            }
            await group.next()
            await group.next()
        }
    }

    /// Reports each step of a sign-up, and kills the process at the chosen step, as a system does
    /// that needs memory.
    private func probe() -> @Sendable (String) -> Void {
        let count = Mutex(0)
        return { [killAt] name in
            let number = count.withLock { count in
                count += 1
                return count
            }
            Self.say(.reached(name))
            if number == killAt { kill(getpid(), SIGKILL) }
        }
    }

    private static func notify(_ phone: any PhoneApp, since start: ContinuousClock.Instant) async {
        var plan: [String] = []
        for await screen in phone.screens {
            say(.screen(screen, (ContinuousClock.now - start) / .milliseconds(1)))
            let next = await phone.readPlan()
            if next != plan { say(.plan(next)) }
            plan = next
        }
    }

    private static func say(_ news: PhoneNews) {
        FileHandle.standardOutput.write(JSONLine.encode(news))
    }

    private static func obey(
        _ order: PhoneOrder, phone: any PhoneApp, ahead: PhoneClock
    ) async {
        switch order {
        case .tap(let id, let text): await phone.tap(id, text)
        case .networkIsBack: await phone.networkMayBeBack()
        case .clock(let seconds):
            ahead.seconds.withLock { $0 = seconds }
            await phone.clockChanged()
        case .close: break
        }
    }

    /// Returns the orders until the parent sends `close` or ends.
    private static func orders() -> AsyncStream<PhoneOrder> {
        let (orders, input) = AsyncStream.makeStream(
            of: PhoneOrder.self, bufferingPolicy: .bufferingNewest(64))
        // The blocking read of the pipe needs its own thread, because tasks must not block.
        DispatchQueue(label: "tidemark.phone.orders").async {
            var cutter = LineCutter()
            while let data = PipeReading.next(of: .standardInput) {
                guard let lines = cutter.add(data) else { break }
                let known = lines.compactMap { JSONLine.decode(PhoneOrder.self, $0) }
                for order in known {
                    if order == .close { return input.finish() }
                    input.yield(order)
                }
            }
            input.finish()
        }
        return orders
    }
}

/// The time by which a phone's clock is ahead, in seconds.
private final class PhoneClock: Sendable {
    let seconds: Mutex<Double>

    init(_ seconds: Double) { self.seconds = Mutex(seconds) }
}
