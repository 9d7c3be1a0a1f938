import Foundation
public import TidemarkHTTP
import TidemarkModel
public import TidemarkServer

/// The console: pages that show a server's data, its traffic and the cost.
///
/// Every page has an address. The same page as data has an address whose first segment ends with
/// `.json`, such as `/traffic` and `/traffic.json`. Pages can be read without a script; with the
/// script they update themselves. The console's own reads are not billed.
public final class Console: WebPages {
    let server: FirestoreServer
    let traffic: RecordedTransport
    let faults: FaultBoard?
    let accounts: AccountsServer?
    let objects: ObjectsServer?
    let rules: RulesFileWatch?
    let databaseRules: [String: RulesFileWatch]

    /// - Parameters:
    ///   - traffic: The transport that records the calls of the server's sockets.
    ///   - faults: Accepts orders of faults; nil if the server simulates none.
    ///   - accounts: The accounts to show; nil if there are none.
    ///   - objects: The objects to show; nil if there are none.
    ///   - rules: The watched rules file; nil if there is none.
    ///   - databaseRules: The watched rules files of databases with their own rules, by id.
    public init(
        _ server: FirestoreServer, traffic: RecordedTransport, faults: FaultBoard? = nil,
        accounts: AccountsServer? = nil, objects: ObjectsServer? = nil,
        rules: RulesFileWatch? = nil, databaseRules: [String: RulesFileWatch] = [:]
    ) {
        self.server = server
        self.traffic = traffic
        self.faults = faults
        self.accounts = accounts
        self.objects = objects
        self.rules = rules
        self.databaseRules = databaseRules
    }

    var reader: DataReader { DataReader(server: server) }

    public func answer(_ request: PageRequest) async -> PageAnswer? {
        var path = request.path
        guard var section = path.first else { return .redirect(to: PagePath(["data"])) }
        let wantsData = section.hasSuffix(".json")
        if wantsData { section.removeLast(5) }
        path.removeFirst()
        let form: PageForm = wantsData ? .json : .html
        if let answer = await changed(section, path: path, request: request) { return answer }
        switch (request.method, section) {
        case ("GET", "assets"): return Assets.answer(path)
        case ("GET", "events"): return .events(liveEvents())
        case ("GET", "data"): return await data(path, request: request, form: form)
        case ("GET", "rows"): return await data(path, request: request, form: .json)
        case ("GET", "count"), ("GET", "below"): return await counted(path, request)
        case ("GET", "history"):
            return await HistoryRoutes(console: self).answer(path, request: request, form: form)
        case ("GET", "accounts"):
            return await AccountRoutes(console: self).answer(path, request: request, form: form)
        case ("GET", "objects"):
            return await ObjectRoutes(objects: objects).answer(request, form)
        case ("GET", "picture"): return await ObjectRoutes(objects: objects).picture(request)
        case ("GET", "login"):
            return form.answer(LoginPage(isWrong: request["wrong"] != nil))
        case ("GET", "places"): return await places()
        case ("PUT", "data"), ("DELETE", "data"): return await change(path, request)
        case ("GET", "query"): return await query(path, request: request, form: form)
        case ("GET", "traffic"): return await trafficPage(path, request: request, form: form)
        case ("DELETE", "traffic"):
            traffic.clear()
            return .json(["status": "cleared"])
        case ("GET", "cost"): return costPage(request, form)
        case ("GET", "indexes"): return form.answer(indexesPage)
        case ("GET", "rules"): return rulesPage(request, form)
        case ("GET", "faults"): return form.answer(FaultsPage(faults?.state))
        default: return nil
        }
    }

    /// Returns an event after each change of traffic or data, at most four times a second. A new
    /// reader receives both events immediately, because it may have missed changes.
    private func liveEvents() -> AsyncStream<ServerEvent> {
        let bell = traffic.bell
        return AsyncStream(bufferingPolicy: .bufferingNewest(2)) { sink in
            let task = Task {
                var known = TrafficBell.Versions(traffic: -1, data: -1)
                while !Task.isCancelled {
                    let now = bell.versions
                    if now.traffic != known.traffic {
                        sink.yield(ServerEvent(name: "traffic", data: "\(now.traffic)"))
                    }
                    if now.data != known.data {
                        sink.yield(ServerEvent(name: "data", data: "\(now.data)"))
                    }
                    known = now
                    try? await Task.sleep(for: .milliseconds(250))
                    await bell.changed(from: known)
                }
            }
            sink.onTermination = { _ in task.cancel() }
        }
    }
}

/// The pages about the server as a whole.
extension Console {
    var indexesPage: IndexesPage {
        let report = server.indexReport()
        let parts = ServerInsight(server).indexScopes.map { scope in
            let declared = server.indexes(of: scope)?.composites
            let used = Set(
                report.used.filter { $0.database == scope.id }.map {
                    "\($0.collectionGroup)\n\($0.queryScope)\n\($0.properties)"
                })
            let unused = (declared ?? []).filter {
                !used.contains("\($0.group.text)\n\($0.use.queryScope)\n\($0.use.properties)")
            }
            let file = server.missingIndexes(of: scope)
                .map { String(decoding: $0.json, as: UTF8.self) }
            return IndexesPage.Part(
                database: scope.id, declared: declared?.map(\.use), unused: unused.map(\.use),
                file: file)
        }
        return IndexesPage(report: report, parts: parts)
    }

    /// A destination in the palette.
    private struct Place: Encodable {
        let name: String
        let address: String
    }

    /// The maximum number of root collections in the palette, for all databases together.
    private static let maxPlaces = 500

    /// Returns the sections, the databases, and the collections at their roots.
    func places() async -> PageAnswer {
        var places = Section.allCases.map {
            Place(name: $0.title, address: PagePath([$0.rawValue]).text)
        }
        for database in server.databases().prefix(50) {
            let place = DataPlace(database: database, path: [], time: nil)
            let name = "\(database.project) / \(database.database)"
            places.append(Place(name: name, address: place.address().text))
            let request = ListCollectionIDsRequest(parent: nil, pageSize: DataReader.maxCollections)
            let replies = try? await server.replies(
                to: .listCollectionIDs(request), reader.context(database))
            guard case .listCollectionIDs(let ids, _)? = replies?.first else { continue }
            places += ids.map {
                Place(name: "\(name) / \($0)", address: place.address([$0]).text)
            }
        }
        return .json(Array(places.prefix(Self.maxPlaces)))
    }
}
