import Foundation
import TidemarkModel
import TidemarkWire

/// Measures `tidemark serve` over gRPC, beside a server with the same gRPC and constant answers.
/// The client and the servers are separate processes. The client is ``GRPCTransport`` without an
/// engine.
struct ServerSuite {
    let count: Int
    let folder: URL
    let program: URL
    let report: Report

    private static let width = 16
    /// The number of compared runs of calls: half of them with an open console, or as many with
    /// empty calls.
    private static let turns = 14
    /// The maximum ratio of a get over REST to an empty call. Source: Decisions/0062.
    private static let worstREST = 1.43

    func run() async throws {
        let yardstick = try ServerChild(ServerChild.thisProgram, ["--serve-empty-calls"])
        defer { yardstick.stop() }
        let empty = try await Yardstick(ServerSteps(yardstick), width: Self.width)
        let data = folder.appending(path: "server").path
        for (title, place) in [("in a file", ["--data", data]), ("in memory", ["--memory"])] {
            let ports = folder.appending(path: "ports.json").path
            let child = try ServerChild(
                program,
                ["serve", "--port", "0", "--control-port", "0", "--ports-file", ports] + place)
            defer { child.stop() }
            report.begin("server", "\(count) documents \(title)", yardstick: "empty gRPC")
            try await measure(ServerSteps(child), empty)
            report.begin("server", "REST \(title)", yardstick: "empty HTTP")
            try await measure(RESTSteps(child), emptyHTTP: RESTSteps(yardstick))
            report.begin("server", "with the console's traffic open", yardstick: "closed")
            let console = ConsoleReader(port: try ServerChild.controlPort(in: ports))
            try await measure(ServerSteps(child), console)
        }
    }

    /// Alternates between an open and a closed console, so both have the same machine.
    private func measure(_ steps: ServerSteps, _ console: ConsoleReader) async throws {
        let workload = Workload(count: count)
        let paths = (0..<2_000).map { workload.path(workload.scattered($0)) }
        var closed: [Double] = []
        var open: [Double] = []
        for turn in 0..<Self.turns {
            let isOpen = turn % 2 == 1
            let before = console.fetched
            if isOpen { try await console.open() }
            let each = try await mean(6_000, width: Self.width) { round in
                try await steps.get(paths[round % paths.count])
            }
            console.close()
            // The first page is fetched before the calls. Without a further page, the open console
            // would cost nothing.
            if isOpen, console.fetched < before + 2 {
                throw ServerChildError(program: program.path, reason: "told its console nothing")
            }
            if isOpen { open.append(each) } else { closed.append(each) }
        }
        report.add(
            "get, 16 at once, each", open.median, against: closed.median, atMost: 1.2, items: 1)
        print("  \(console.fetched) pages were fetched")
        await steps.transport.close()
    }

    private func measure(_ steps: ServerSteps, _ empty: Yardstick) async throws {
        let workload = Workload(count: count)
        let load = try await time { try await steps.load(workload) }
        report.add("load, 500 a commit, each document", load / Double(count))
        try await steps.load(ServerWorkload.listened)
        try await get(steps, workload, against: empty)
        try await commit(steps, workload, against: empty)
        try await query(steps, workload, against: empty)
        let listened = Query(collectionID: ServerWorkload.listened.collection)
        report.add(
            "listen to 10,000", try await median(5) { _ in try await steps.listen(listened) },
            against: empty.listen, atMost: 1.5, items: ServerWorkload.listened.count)
        await steps.transport.close()
    }

    /// Measures REST after ``measure(_:_:)`` over gRPC has stored the documents. Alternates between
    /// gets and empty calls, so both have the machine in the same state.
    private func measure(_ steps: RESTSteps, emptyHTTP: RESTSteps) async throws {
        let workload = Workload(count: count)
        let paths = (0..<2_000).map { workload.path(workload.scattered($0)) }
        // The first calls make the connections.
        _ = try await median(200) { try await steps.get(paths[$0]) }
        _ = try await median(200) { _ in try await emptyHTTP.emptyCall() }
        var gets: [Double] = []
        var empty: [Double] = []
        let before = await Calibration()
        for _ in 0..<Self.turns {
            empty.append(try await median(300) { _ in try await emptyHTTP.emptyCall() })
            gets.append(try await median(300) { try await steps.get(paths[$0]) })
        }
        // The share of the empty call is larger on a slow machine, so the report includes the
        // calibration.
        let after = await Calibration()
        report.add(
            "REST get", gets.median, against: empty.median, atMost: Self.worstREST,
            more: ["partsBefore": before.parts, "partsAfter": after.parts])
        print(
            String(
                format: "  calibrated: %.0f and %.0f ns, where %.0f are quiet", before.parts,
                after.parts, Calibration.quiet))
    }

    private func get(
        _ steps: ServerSteps, _ workload: Workload, against empty: Yardstick
    ) async throws {
        let paths = (0..<2_000).map { workload.path(workload.scattered($0)) }
        report.add(
            "get", try await median(2_000) { try await steps.get(paths[$0]) }, against: empty.call,
            atMost: 1.5)
        report.add(
            "  16 at once, each",
            try await mean(4_000, width: Self.width) { try await steps.get(paths[$0 % 2_000]) },
            against: empty.calls, atMost: 1.75, items: 1)
    }

    private func commit(
        _ steps: ServerSteps, _ workload: Workload, against empty: Yardstick
    ) async throws {
        let ones = (0..<2_000).map { [ServerSteps.set(workload, workload.count + $0)] }
        report.add(
            "commit of 1 write", try await median(300) { try await steps.commit(ones[$0]) },
            against: empty.call, atMost: 2)
        report.add(
            "  16 at once, each",
            try await mean(2_000, width: Self.width) { try await steps.commit(ones[$0]) },
            against: empty.calls, atMost: 2, items: 1)
        let many = Yardstick.commits(after: workload.count + 2_000, workload)
        report.add(
            "commit of 500 writes",
            try await median(many.count) { try await steps.commit(many[$0]) },
            against: empty.commit,
            atMost: 5, items: 500)
    }

    private func query(
        _ steps: ServerSteps, _ workload: Workload, against empty: Yardstick
    ) async throws {
        // The first query requests the index. It reads all documents, and has no bar.
        let first = try await median(1) { _ in try await steps.query(workload.top) }
        report.add("top 50, no index", first, against: empty.query)
        report.add(
            "top 50", try await median(500) { _ in try await steps.query(workload.top) },
            against: empty.query, atMost: 1.5)
        report.add(
            "  16 at once, each",
            try await mean(1_000, width: Self.width) { _ in try await steps.query(workload.top) },
            against: empty.queries, atMost: 1.5, items: 1)
    }
}

/// The same calls with constant answers.
struct Yardstick {
    /// The time of an empty call; and of one of 16 concurrent calls.
    let call, calls: Double
    /// The time of a commit of 500 writes that nothing stores.
    let commit: Double
    /// The time of a query for 50 documents; and of one of 16 concurrent queries.
    let query, queries: Double
    /// The time of a listen to 10,000 documents.
    let listen: Double

    init(_ steps: ServerSteps, width: Int) async throws {
        let workload = ServerWorkload.listened
        // The first calls make the connection.
        _ = try await median(200) { _ in try await steps.emptyCall() }
        call = try await median(2_000) { _ in try await steps.emptyCall() }
        calls = try await mean(4_000, width: width) { _ in try await steps.emptyCall() }
        let many = Self.commits(after: 0, workload)
        commit = try await median(many.count) { try await steps.commit(many[$0]) }
        query = try await median(500) { _ in try await steps.query(workload.top) }
        queries = try await mean(1_000, width: width) { _ in try await steps.query(workload.top) }
        listen = try await median(5) { _ in
            try await steps.listen(Query(collectionID: workload.collection))
        }
    }

    static func commits(after number: Int, _ workload: Workload) -> [[Mutation]] {
        (0..<15).map { commit in
            (0..<500).map { ServerSteps.set(workload, number + 500 * commit + $0) }
        }
    }
}
