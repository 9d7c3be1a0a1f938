import Foundation
import TidemarkModel
import TidemarkWire

/// Measures `tidemark serve`, as users run it, against the limits for the server.
final class BarSuite {
    let count: Int
    let scale: Int
    let soak: Double
    let folder: URL
    let program: URL
    private let only: [String]
    private let report: Report
    private var allHold = true
    private var folders = 0

    init(
        count: Int, scale: Int, soak: Double, only: [String], folder: URL, program: URL,
        report: Report
    ) {
        self.count = count
        self.scale = scale
        self.soak = soak
        self.only = only
        self.folder = folder
        self.program = program
        self.report = report
    }

    static let bars = [
        Bar.start, .idle, .get, .query, .commit, .load, .fanOut, .size, .sizeOfMany, .listeners,
        .silent, .hammered, .rulesGet, .rulesTrace, .rulesCommit, .rulesLoad, .triggers, .event,
        .slope,
    ]

    /// - Returns: True if all bars hold.
    func run() async throws -> Bool {
        let load = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? "unknown\n"
        print("\nbars: the server against its thresholds (load average \(load.dropLast()))")
        if wants(.start, .idle) { try await start() }
        if wants(.get, .query, .commit, .load) { try await calls() }
        if wants(.fanOut) { try await fanOut() }
        if wants(.size, .sizeOfMany) { try await size() }
        if wants(.listeners) { try await listeners() }
        if wants(.silent) { try await silent() }
        if wants(.hammered) { try await hammered() }
        if wants(.rulesGet, .rulesTrace, .rulesCommit, .rulesLoad) { try rules() }
        if wants(.triggers, .event) { try await functions() }
        if soak > 0, wants(.slope) { try await soaking() }
        return allHold
    }

    private func wants(_ bars: Bar...) -> Bool {
        only.isEmpty || bars.contains { bar in only.contains { bar.name.hasPrefix($0) } }
    }

    func check(_ bar: Bar, _ figure: Double, detail: String = "") {
        if !bar.holds(figure) { allHold = false }
        report.add(bar, figure, detail: detail)
    }

    /// Runs `body` with a server that has a separate file.
    func serving<T>(
        _ arguments: [String] = [], _ body: (ServerChild, ServerSteps) async throws -> T
    ) async throws -> T {
        folders += 1
        let data = folder.appending(path: "bar-\(folders)")
        let child = try ServerChild(
            program, ["serve", "--port", "0", "--data", data.path] + arguments)
        defer {
            child.stop()
            try? FileManager.default.removeItem(at: data)
        }
        let steps = ServerSteps(child)
        let result = try await body(child, steps)
        await steps.transport.close()
        return result
    }

    private func start() async throws {
        var starts: [Double] = []
        var idle: [Double] = []
        var anonymous: [Double] = []
        for _ in 0..<11 {
            let begun = ContinuousClock().now
            try await serving { child, _ in
                starts.append((ContinuousClock().now - begun) / .milliseconds(1))
                // The memory includes the work after the start.
                try await Task.sleep(for: .milliseconds(300))
                idle.append(child.residentMiB ?? .nan)
                anonymous.append(child.anonymousMiB ?? .nan)
            }
        }
        check(.start, starts.median, detail: String(format: "slowest %.0f ms", starts.max() ?? 0))
        let detail = String(
            format: "%.1f of it its own, the rest pages of the program", anonymous.median)
        check(.idle, idle.median, detail: detail)
    }

    private func calls() async throws {
        let width = 16
        let yardstick = try ServerChild(ServerChild.thisProgram, ["--serve-empty-calls"])
        defer { yardstick.stop() }
        let empty = try await Yardstick(ServerSteps(yardstick), width: width)
        try await serving { child, steps in
            let workload = Workload(count: count)
            let begin = child.processorSeconds ?? .nan
            let seconds = try await loadListening(steps, workload)
            let used = (child.processorSeconds ?? .nan) - begin
            check(
                .load, seconds,
                detail: String(
                    format: "all told to the listener; the server's processor %.2f s", used))
            let many = Yardstick.commits(after: count, workload)
            let before = child.processorSeconds ?? .nan
            let commit = try await median(many.count) { try await steps.commit(many[$0]) }
            let each = ((child.processorSeconds ?? .nan) - before) / Double(many.count)
            check(
                .commit, commit / 1e3,
                detail: rawCommit() + String(format: "; the server's processor %.1f ms", each * 1e3)
            )
            if wants(.get) { try await gets(steps, workload, against: empty, width: width) }
            if wants(.query) { try await queries(steps, workload, against: empty, width: width) }
        }
    }

    private func gets(
        _ steps: ServerSteps, _ workload: Workload, against empty: Yardstick, width: Int
    ) async throws {
        let paths = (0..<2_000).map { workload.path(workload.scattered($0)) }
        _ = try await median(200) { try await steps.get(paths[$0]) }
        let one = try await median(2_000) { try await steps.get(paths[$0]) }
        let gets = try await mean(4_000, width: width) {
            try await steps.get(paths[$0 % 2_000])
        }
        check(
            .get, min(empty.call / one, empty.calls / gets),
            detail: shares(one: empty.call / one, many: empty.calls / gets, micros: gets))
    }

    private func queries(
        _ steps: ServerSteps, _ workload: Workload, against empty: Yardstick, width: Int
    ) async throws {
        // The first queries request the index, which is built when the server is idle.
        _ = try await steps.query(workload.top)
        try await Task.sleep(for: .seconds(5))
        _ = try await median(50) { _ in try await steps.query(workload.top) }
        let top = try await median(500) { _ in try await steps.query(workload.top) }
        let tops = try await mean(1_000, width: width) { _ in
            try await steps.query(workload.top)
        }
        check(
            .query, min(empty.query / top, empty.queries / tops),
            detail: shares(one: empty.query / top, many: empty.queries / tops, micros: tops))
    }

    private func shares(one: Double, many: Double, micros: Double) -> String {
        String(
            format: "%.2f one by one, %.2f by 16 at once, %.0f/s", one, many, 1e6 / micros)
    }

    /// Measures commits of the same rows in raw SQLite with the same sync.
    private func rawCommit() -> String {
        let raw = RawDatabase(folder.appending(path: "raw.sqlite").path)
        raw.syncEveryCommit(true)
        let workload = Workload(count: 7_500, collection: "raw")
        let rows = (0..<7_500).map { RawDatabase.Row(workload, $0) }
        let micros = median(15) { round in
            raw.load(Array(rows[(500 * round)..<(500 * round + 500)]))
            return 1
        }
        return String(format: "raw SQLite with the same sync %.2f ms", micros / 1e3)
    }

    /// - Returns: The seconds until the last commit was answered and the listener had received all
    ///   changes.
    private func loadListening(_ steps: ServerSteps, _ workload: Workload) async throws -> Double {
        let listener = try await Listener(steps, Query(collectionID: workload.collection))
        let commits = stride(from: 0, to: workload.count, by: 500).map { start in
            (start..<min(start + 500, workload.count)).map { ServerSteps.set(workload, $0) }
        }
        let micros = try await time {
            for commit in commits { _ = try await steps.commit(commit) }
            try await listener.waitForChanges(workload.count)
        }
        listener.stop()
        return micros / 1e6
    }
}
