import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkServer

/// Pages about the server as a whole.
extension Console {
    var indexesPage: IndexesPage {
        let report = server.indexReport()
        let declared = ServerInsight(server).declaredIndexes()?.composites
        let used = Set(
            report.used.map { "\($0.collectionGroup)\n\($0.queryScope)\n\($0.properties)" })
        let unused = (declared ?? []).filter {
            !used.contains("\($0.group.text)\n\($0.use.queryScope)\n\($0.use.properties)")
        }
        let file = server.missingIndexes().map { String(decoding: $0.json, as: UTF8.self) }
        return IndexesPage(
            report: report, declared: declared?.map(\.use), unused: unused.map(\.use), file: file)
    }

    /// Where a reader can go: for the palette.
    private struct Place: Encodable {
        let name: String
        let address: String
    }

    /// Collections at the root that are offered, of all databases together.
    private static let maxPlaces = 500

    /// The sections, the databases and the collections at their roots.
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
