import TidemarkModel
import TidemarkStore
import TidemarkSync
import TidemarkTestKit

/// The documents in a client's cache that the queries of a world can match.
struct WorldHoldings {
    private var documents: [DocumentPath: OracleDocument] = [:]

    init(_ contents: CacheContents) {
        for stored in contents.documents where stored.kind == .found {
            documents[stored.path] = OracleDocument(
                fields: stored.contents.decoded, version: stored.updateTime)
        }
        for batch in contents.batches {
            for mutation in batch.baseMutations + batch.mutations {
                documents[
                    mutation.path, default: OracleDocument(fields: nil, version: nil)
                ].apply(mutation, at: batch.localWriteTime)
            }
        }
    }

    func fields(_ path: DocumentPath) -> MapValue? { documents[path]?.fields }
    func isWritten(_ path: DocumentPath) -> Bool { documents[path]?.isWritten == true }

    /// The documents that exist, without their times.
    var all: [Document] {
        documents.compactMap { path, document in
            document.fields.map {
                Document(path: path, fields: $0, createTime: .epoch, updateTime: .epoch)
            }
        }
    }

    func rows(of query: Query) -> [WorldRow] {
        let all = documents.compactMap { path, document in
            document.fields.map { (path: path, fields: $0) }
        }
        return QueryOracle(query, in: World.database).rows(of: all).map {
            WorldRow(path: $0.path, fields: $0.fields)
        }
    }
}

struct WorldRow: Equatable {
    let path: DocumentPath
    let fields: MapValue

    init(path: DocumentPath, fields: MapValue) {
        self.path = path
        self.fields = fields
    }

    init(_ view: ViewDocument) { self.init(path: view.path, fields: view.document.fields) }

    var text: String { "\(path.id)(\(fields.worldText))" }
}
