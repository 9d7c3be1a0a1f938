import Foundation
import Tidemark
import TidemarkApp
import TidemarkModel
import TidemarkResilience
import TidemarkServer
import TidemarkTesting

/// Measures the parts on which an app is built against ``Bar``s: a feed and pages over many stored
/// documents, plans, retries and single flight. If `only` has names, only those bars are measured.
struct AppSuite {
    let count: Int
    let folder: URL
    let only: [String]
    let report: Report

    static let roundTrip = Duration.milliseconds(100)
    private static let launches = 100
    private static let openings = 100
    private static let pages = 100

    static let bars = [
        Bar.firstContent, .delta, .plan, .diskPage, .localStart, .flight, .retry, .timedRetry,
    ]

    /// - Returns: True if all bars hold.
    func run() async throws -> Bool {
        report.begin("app", "a feed and pages over \(count) documents", yardstick: "bar")
        print("  Launches are processes. Round trips are in process: a delay before a server.")
        var allHold = true
        let names = [Bar.firstContent, .delta, .plan, .diskPage].map(\.name)
        if names.contains(where: isWanted) { allHold = try await runHeld() && allHold }
        if isWanted(Bar.localStart.name) { allHold = try await runStarts() && allHold }
        allHold = try await runCalls() && allHold
        return allHold
    }

    private func isWanted(_ name: String) -> Bool {
        only.isEmpty || only.contains { name.hasPrefix($0) }
    }

    private func add(
        _ bar: Bar, _ figure: Double, detail: String, more: [String: Double]? = nil
    ) -> Bool {
        guard isWanted(bar.name) else { return true }
        report.add(bar, figure, detail: detail, more: more)
        return bar.holds(figure)
    }

    private func runHeld() async throws -> Bool {
        let device = try await HeldFeed(count: count, folder: folder)
        defer { device.server.close() }
        var allHold = isWanted(Bar.firstContent.name) ? try await runLaunches(device) : true
        var delta: [Double] = []
        var plan: [Double] = []
        for round in 0..<Self.openings {
            try await device.insert(50)
            let opening = try await device.opening()
            delta.append(opening.delta)
            plan.append(opening.plan)
            precondition(opening.changed >= 50, "round \(round) found \(opening.changed) new")
        }
        let trip = Self.roundTrip / .milliseconds(1)
        allHold =
            add(
                .delta, delta.percentile(99) / 1e3 / trip,
                detail:
                    "p99; median \(Self.text(delta.median / 1e3 / trip)), at \(Int(trip)) ms in process"
            )
            && allHold
        allHold =
            add(.plan, plan.percentile(99), detail: "p99 with the way to the actor") && allHold
        if isWanted(Bar.diskPage.name) {
            let pages = try await device.pages(Self.pages)
            allHold =
                add(
                    .diskPage, pages.percentile(99) / 1e3,
                    detail: "median \(Self.text(pages.median / 1e3)) ms of \(pages.count) pages")
                && allHold
        }
        return allHold
    }

    /// Measures launches in separate processes, from the start of the process to the newest items
    /// of the feed, through the launch machine.
    private func runLaunches(_ feed: HeldFeed) async throws -> Bool {
        let device = LaunchDevice(folder: folder.appending(path: "launched"))
        try await device.prepare(from: feed.server)
        let launches = try (0..<Self.launches).map { _ in try device.launch() }
        let times = launches.map(\.launch)
        let own = launches.map(\.own).median / 1e3
        return add(
            .firstContent, times.percentile(99) / 1e3,
            detail: "median \(Self.text(times.median / 1e3)) ms of \(times.count) processes, "
                + "\(Self.text(own)) of it from the first line of their own code",
            more: ["median": times.median / 1e3, "own": own])
    }

    /// Times the start of a local server, which each test with its own server pays.
    private func runStarts() async throws -> Bool {
        var times: [Double] = []
        for _ in 0..<50 {
            var local: LocalFirestore?
            times.append(try time { local = try LocalFirestore.start() })
            await local?.stop()
        }
        return add(
            .localStart, times.median / 1e3,
            detail: "the slowest of \(times.count) \(Self.text((times.max() ?? 0) / 1e3)) ms",
            more: ["slowest": (times.max() ?? 0) / 1e3])
    }

    private func runCalls() async throws -> Bool {
        let calls = 500_000
        let permanent: @Sendable (any Error) -> Failure = { _ in Failure(.permanent) }
        var allHold = true
        if isWanted(Bar.flight.name) {
            let flights = SingleFlight<Int, Int>()
            allHold = try await addRate(.flight, of: calls) { calls in
                for number in 0..<calls {
                    _ = try await flights.value(for: number & 7) { number }
                }
            }
        }
        if isWanted(Bar.retry.name) {
            let plain = Retry(RetryPolicy.mobile.withoutTimeout)
            let holds = try await addRate(.retry, of: calls) { calls in
                for number in 0..<calls {
                    _ = try await plain.run(.read, classify: permanent) { _ in number }
                }
            }
            allHold = holds && allHold
        }
        if isWanted(Bar.timedRetry.name) {
            let mobile = Retry(.mobile)
            let holds = try await addRate(.timedRetry, of: calls / 10) { calls in
                for number in 0..<calls {
                    _ = try await mobile.run(.read, classify: permanent) { _ in number }
                }
            }
            allHold = holds && allHold
        }
        return allHold
    }

    /// Measures the calls per second of one task outside of actors, in five runs between
    /// calibrations. The figure is the rate on the machine in its quiet state: the median of the
    /// runs' rates, corrected by the machine's speed before and after each run.
    private func addRate(
        _ bar: Bar, of calls: Int, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Bool {
        var rates: [Double] = []
        var judged: [Double] = []
        var before = await Self.calibration()
        for _ in 0..<5 {
            let task = Task.detached {
                try await time { try await body(calls) }
            }
            let rate = Double(calls) * 1e6 / (try await task.value)
            let after = await Self.calibration()
            rates.append(rate)
            judged.append(rate * (before.parts + after.parts) / 2 / Calibration.quiet)
            before = after
        }
        let detail = String(
            format: "%.0f/s as measured; a lock %.1f, an object %.0f, a task %.0f, memory %.0f ns",
            rates.median, before.lock, before.object, before.task, before.memory)
        return add(
            bar, judged.median, detail: detail,
            more: [
                "measured": rates.median, "arithmetic": before.arithmetic, "lock": before.lock,
                "object": before.object, "task": before.task, "memory": before.memory,
            ])
    }

    private static func calibration() async -> Calibration {
        await Task.detached { await Calibration() }.value
    }

    private static func text(_ figure: Double) -> String { String(format: "%.2f", figure) }
}

extension RetryPolicy {
    fileprivate var withoutTimeout: RetryPolicy {
        var policy = self
        policy.attemptTimeout = nil
        return policy
    }
}

extension [Double] {
    fileprivate func percentile(_ percent: Int) -> Double {
        let rank = (count * percent + 99) / 100
        return sorted()[Swift.max(0, Swift.min(count, rank) - 1)]
    }
}
