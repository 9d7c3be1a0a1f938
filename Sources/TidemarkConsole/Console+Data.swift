import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkServer

/// The pages of data, queries, traffic and cost: requests and their answers.
extension Console {
    // MARK: Data

    func data(_ path: [String], request: PageRequest, form: PageForm) async -> PageAnswer {
        if path.isEmpty {
            let names = server.databases().map {
                DatabasesPage.Name(project: $0.project, database: $0.database)
            }
            return form.answer(DatabasesPage(databases: names))
        }
        do throws(PageRefusal) {
            let place = try DataPlace(path, request)
            do throws(RPCStatus) {
                return try await show(place, request: request, form: form)
            } catch {
                throw PageRefusal(400, error.message)
            }
        } catch { return error.answer(.data, form) }
    }

    private func show(
        _ place: DataPlace, request: PageRequest, form: PageForm
    ) async throws(RPCStatus) -> PageAnswer {
        let (database, time) = (place.database, place.consistency)
        switch place.kind {
        case .root:
            let collections = try await reader.collections(of: nil, in: database, at: time)
            return form.answer(RootPage(place: place, collections: collections))
        case .collection(let collection):
            var token = request["page"] ?? request["after"].map { "after:" + $0 } ?? ""
            if let skip = request["skip"].flatMap({ Int($0) }), skip > 0 {
                let id = try await reader.id(
                    skip, after: request["after"], collection, in: database, at: time)
                guard let id else { throw .invalidArgument("There are fewer documents.") }
                token = "after:" + id
            }
            let (rows, next) = try await reader.list(
                collection, token: token, in: database, at: time)
            if request.path.first == "rows" {
                let columns = request.query.filter { $0.name == "column" }.map(\.value)
                return .json(CollectionWindow(rows, columns: columns, more: !next.isEmpty))
            }
            let table = DocumentTable(rows.map { ($0.path, $0.document) })
            let tree = try await DataTree(reader, place)
            return form.answer(CollectionPage(place: place, table: table, next: next, tree: tree))
        case .document(let path):
            let document = try await reader.document(path, in: database, at: time)
            let collections = try await reader.collections(of: path, in: database, at: time)
            let page = DocumentPage(
                place: place, document: document, collections: collections,
                tree: try await DataTree(reader, place))
            return form.answer(page, status: document == nil ? 404 : 200)
        }
    }

    /// Returns the number of documents in a collection, or the number that a deletion would delete.
    func counted(_ path: [String], _ request: PageRequest) async -> PageAnswer {
        do throws(PageRefusal) {
            let place = try DataPlace(path, request)
            do throws(RPCStatus) {
                if request.path.first == "below" {
                    return .json(["documents": try await reader.countBelow(place)])
                }
                guard case .collection(let collection) = place.kind else {
                    throw .invalidArgument("Only the documents of a collection can be counted.")
                }
                let count = try await reader.count(
                    ModelQuery(collection: collection), in: place.database,
                    at: place.consistency, upTo: 100_000_000)
                return .json(["documents": Int(count)])
            } catch { throw PageRefusal(400, error.message) }
        } catch { return error.answer(.data, .json) }
    }

    // MARK: Single changes

    /// Writes or deletes one document, if it is unchanged since the page showed it.
    ///
    /// `PUT` takes `{"fields": …}` in Firestore's REST form. The parameter `update` is the update
    /// time that the page showed. If `update` is missing, the write fails for a document that
    /// exists.
    func change(_ path: [String], _ request: PageRequest) async -> PageAnswer {
        do throws(PageRefusal) {
            let place = try DataPlace(path, request)
            guard case .document(let path) = place.kind else {
                throw PageRefusal(405, "Only a document can be written here.")
            }
            let mutation = Mutation(
                path: path, try Self.operation(request),
                precondition: try Precondition(update: request["update"]))
            return try await write([mutation], in: place.database)
        } catch { return .json(["error": error.message], status: error.status) }
    }

    private static func operation(
        _ request: PageRequest
    ) throws(PageRefusal) -> Mutation.Operation {
        if request.method == "DELETE" { return .delete }
        do {
            let json = try JSONValueDecoder().decode(FieldsJSON.self, from: request.body)
            return .set(json.fields)
        } catch { throw PageRefusal(400, "This is not a document: \(PageRefusal.sentence(error))") }
    }

    // MARK: Queries

    func query(_ path: [String], request: PageRequest, form: PageForm) async -> PageAnswer {
        var path = path
        if path.isEmpty, let first = server.databases().first {
            path = [first.project, first.database]
        }
        guard !path.isEmpty else {
            return ErrorPage(section: .query, error: "There is no data yet.").answer(404, form)
        }
        do throws(PageRefusal) {
            let place = try DataPlace(path, request)
            if let text = request["pipeline"], !text.allSatisfy(\.isWhitespace) {
                return await pipeline(text, place: place, form: form)
            }
            guard let text = request["q"] else {
                return form.answer(QueryPage(place: place, text: "", result: nil, error: nil))
            }
            return await run(text, place: place, form: form)
        } catch { return error.answer(.query, form) }
    }

    private func run(_ text: String, place: DataPlace, form: PageForm) async -> PageAnswer {
        let asked: AskedQuery
        do throws(QueryTextError) {
            asked = try QueryText.parse(text, in: place.database)
        } catch {
            let page = QueryPage(place: place, text: text, result: nil, error: error.message)
            return form.answer(page, status: 400)
        }
        do throws(RPCStatus) {
            let result = try await QueryRun(asked: asked, reader: reader, place: place).result()
            return form.answer(QueryPage(place: place, text: text, result: result, error: nil))
        } catch {
            let page = QueryPage(place: place, text: text, result: nil, error: error.message)
            return form.answer(page, status: 400)
        }
    }

    private func pipeline(
        _ text: String, place: DataPlace, form: PageForm
    ) async -> PageAnswer {
        var code: [QueryCode.Text] = []
        func page(_ error: String) -> PageAnswer {
            let page = PipelinePage(
                place: place, text: text, result: nil, error: error, code: code)
            return form.answer(page, status: 400)
        }
        let pipeline: Pipeline
        do throws(QueryTextError) {
            pipeline = try PipelineText.parse(text, in: place.database)
        } catch { return page(error.message) }
        code = QueryCode.Language.allCases.map {
            PipelineCode(pipeline: pipeline, language: $0).text
        }
        do throws(RPCStatus) {
            let result = try await reader.run(
                pipeline, in: place.database, at: place.consistency)
            return form.answer(
                PipelinePage(place: place, text: text, result: result, error: nil, code: code))
        } catch { return page(error.message) }
    }

    // MARK: Traffic and cost

    func trafficPage(
        _ path: [String], request: PageRequest, form: PageForm
    ) async -> PageAnswer? {
        let log = traffic.snapshot
        if let name = path.first {
            guard path.count == 1, let id = Int(name), let entry = log[id] else {
                return ErrorPage(section: .traffic, error: "This call is no longer stored.")
                    .answer(404, form)
            }
            let advice = TrafficAdvice.onListener(entry)
            return form.answer(
                TrafficEntryPage(
                    entry: entry, advice: advice, indexes: indexes(of: entry),
                    relations: TrafficRelations(of: entry, in: log)))
        }
        let text = request["filter"]
        guard (text?.utf8.count ?? 0) <= TrafficFilter.maxBytes else {
            let error = "A filter can have at most \(TrafficFilter.maxBytes) bytes."
            return ErrorPage(section: .traffic, error: error).answer(400, form)
        }
        let filter = TrafficFilter(
            text: text,
            show: request["show"].flatMap { TrafficFilter.Show(rawValue: $0) } ?? .all,
            reads: max(0, request["reads"].flatMap { Int($0) } ?? 0))
        let entries = await log.newest(TrafficPage.maxRows, passing: filter)
        return form.answer(
            TrafficPage(
                filter: filter, open: log.openCount, ended: log.endedCount,
                advice: TrafficAdvice.loops(chains, entries)
                    + TrafficAdvice.advice(on: entries),
                entries: entries,
                stormy: TrafficAdvice.stormy(entries)))
    }

    /// The functions with the lengths of their longest chains of events.
    private var chains: [(key: String, length: Int)] {
        ServerEvents(server).report().triggers.map { ($0.key, $0.longestChain) }
    }

    private func indexes(of entry: TrafficEntry) -> [String] {
        guard let database = try? DatabaseID(name: entry.database), entry.asksQuery,
            let asked = try? QueryText.parse(entry.asked, in: database)
        else { return [] }
        let requirement = ServerInsight(server).indexRequirement(
            of: asked.query, asked.aggregations, in: database)
        return requirement.uses.map { "\($0.queryScope) \($0.properties)" }
            + requirement.missing.map { "missing: \($0.sentence)" }
    }

    /// The number of newest calls that are priced again.
    private static let mostRepriced = 5_000

    func costPage(_ request: PageRequest, _ form: PageForm) -> PageAnswer {
        let by = request["by"].flatMap { MeterDimension(rawValue: $0) } ?? .target
        let rows = server.meter(by: [by])
        let users = request["users"].flatMap { Int($0) } ?? 1_000
        let dimension = CostChart.Dimension(rawValue: by.rawValue) ?? .target
        let log = traffic.snapshot
        let limit = request["limit"].flatMap { Int($0) } ?? 50
        let bounded = min(max(limit, WhatIf.limits.lowerBound), WhatIf.limits.upperBound)
        return form.answer(
            CostPage(
                by: [by.rawValue], rows: Array(rows.prefix(CostPage.maxRows)),
                users: min(max(users, 1), 1_000_000_000),
                pricePer100000: ReadPrices.multiRegion.per100000,
                unitPrices: UnitPrices.table["nam5"]!,
                hidden: max(0, rows.count - CostPage.maxRows),
                chart: CostChart(log.costs, by: dimension),
                whatIf: WhatIf(log.newest(Self.mostRepriced) { _ in true }, limit: bounded)))
    }
}

/// The reason why there is no page: an HTTP status and a sentence.
struct PageRefusal: Error {
    let status: Int
    let message: String
    /// The documents that differ from the shown versions.
    var conflicts: [String] = []

    init(_ status: Int, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Returns a sentence about an error in received JSON, with its place.
    static func sentence(_ error: any Error) -> String {
        (error as? DecodingError)?.sentence ?? "it cannot be read."
    }

    func answer(_ section: Section, _ form: PageForm) -> PageAnswer {
        ErrorPage(section: section, error: message).answer(status, form)
    }
}

extension ErrorPage {
    func answer(_ status: Int, _ form: PageForm) -> PageAnswer { form.answer(self, status: status) }
}

extension DataPlace {
    enum Kind {
        case root
        case collection(CollectionPath)
        case document(DocumentPath)
    }

    /// - Parameter segments: The project, the database, and a path.
    init(_ segments: [String], _ request: PageRequest) throws(PageRefusal) {
        guard segments.count >= 2,
            let database = try? DatabaseID(project: segments[0], database: segments[1])
        else { throw PageRefusal(404, "Unknown path. Expected /data/PROJECT/DATABASE.") }
        var time: Timestamp?
        if let text = request["at"] {
            guard let parsed = Timestamp(rfc3339: text) else {
                throw PageRefusal(400, "\(text) is not a time, as in 2026-11-24T10:00:00.000001Z.")
            }
            time = parsed
        }
        self.init(database: database, path: Array(segments.dropFirst(2)), time: time)
        do throws(InvalidPath) { _ = try parsed() } catch { throw PageRefusal(400, error.message) }
    }

    private func parsed() throws(InvalidPath) -> Kind {
        if path.isEmpty { return .root }
        let text = path.joined(separator: "/")
        if path.count.isMultiple(of: 2) { return .document(try DocumentPath(text)) }
        return .collection(try CollectionPath(text))
    }

    /// The kind of place. The path was checked when the place was made.
    var kind: Kind { (try? parsed()) ?? .root }
}

extension DecodingError {
    /// A sentence with the place and the error.
    fileprivate var sentence: String {
        func place(_ path: [any CodingKey]) -> String {
            let names = path.map(\.stringValue).joined(separator: ".")
            return names.isEmpty ? "" : " at \(names)"
        }
        switch self {
        case .dataCorrupted(let context):
            return context.debugDescription + place(context.codingPath)
        case .keyNotFound(let key, let context):
            return "\(key.stringValue) is missing" + place(context.codingPath)
        case .typeMismatch(_, let context):
            return context.debugDescription + place(context.codingPath)
        case .valueNotFound(_, let context):
            return "a value is missing" + place(context.codingPath)
        @unknown default: return "it cannot be read"
        }
    }
}
