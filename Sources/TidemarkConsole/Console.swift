public import TidemarkHTTP
import TidemarkModel
public import TidemarkServer

/// The console: pages that show a server's data, its traffic and what that costs.
///
/// Every page is an address, and the same page as data at the address whose first segment ends in
/// `.json`: `/traffic` and `/traffic.json`. Pages are read without a script; with one they are live.
/// Reads that the console makes are billed to nobody.
public final class Console: WebPages {
    let server: FirestoreServer
    let traffic: RecordedTransport
    let faults: FaultBoard?
    let rules: RulesFileWatch?

    /// - Parameters:
    ///   - traffic: What stands in front of the server's sockets.
    ///   - faults: Where faults are set; nil where they cannot be.
    ///   - rules: The file that the server's rules are kept like; nil for none.
    public init(
        _ server: FirestoreServer, traffic: RecordedTransport, faults: FaultBoard? = nil,
        rules: RulesFileWatch? = nil
    ) {
        self.server = server
        self.traffic = traffic
        self.faults = faults
        self.rules = rules
    }

    var reader: DataReader { DataReader(server: server) }

    public func answer(_ request: PageRequest) async -> PageAnswer? {
        var path = request.path
        guard var section = path.first else { return .redirect(to: PagePath(["data"])) }
        let wantsData = section.hasSuffix(".json")
        if wantsData { section.removeLast(5) }
        path.removeFirst()
        let form: PageForm = wantsData ? .json : .html
        switch (request.method, section) {
        case ("GET", "assets"): return Assets.answer(path)
        case ("GET", "events"): return .events(liveEvents())
        case ("GET", "data"): return await data(path, request, form)
        case ("PUT", "data"), ("DELETE", "data"): return await change(path, request)
        case ("GET", "query"): return await query(path, request, form)
        case ("GET", "traffic"): return trafficPage(path, request, form)
        case ("DELETE", "traffic"):
            traffic.clear()
            return .json(["status": "cleared"])
        case ("GET", "cost"): return costPage(request, form)
        case ("GET", "indexes"): return form.answer(IndexesPage(server.indexReport()))
        case ("GET", "rules"): return rulesPage(request, form)
        case ("GET", "faults"): return form.answer(FaultsPage(faults?.state))
        default: return nil
        }
    }

    /// One event whenever the traffic has changed, at most four a second.
    private func liveEvents() -> AsyncStream<ServerEvent> {
        let traffic = traffic
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { sink in
            let task = Task {
                var last = -1
                while !Task.isCancelled {
                    let version = traffic.read { $0.version }
                    if version != last {
                        sink.yield(ServerEvent(name: "traffic", data: "\(version)"))
                        last = version
                    }
                    try? await Task.sleep(for: .milliseconds(250))
                }
            }
            sink.onTermination = { _ in task.cancel() }
        }
    }
}
