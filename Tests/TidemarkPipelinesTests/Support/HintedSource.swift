import TidemarkModel
import TidemarkTestKit

@testable import TidemarkPipelines

/// A source that uses every hint: it leaves out all documents that the hints allow to leave out,
/// and sorts, as an index would.
struct HintedSource: PipelineSource {
    let documents: [Document]

    func open(_ scan: PipelineScan) throws(PipelineError) -> OpenScan {
        let list = ListSource(documents)
        var query: Query
        switch scan.origin {
        case .collection(let path): query = Query(collection: path)
        case .collectionGroup(let id): query = Query(collectionID: id, allDescendants: true)
        case .database, .documents, .subcollection: return try list.open(scan)
        }
        query.filter = scan.filter
        query.orders = scan.orders
        var found: [Document] = []
        let all = try list.open(scan).documents
        while let document = try all.next() {
            let isNeeded = query.matches(document.path, document.fields, in: testDatabase)
            if isNeeded { found.append(document) }
        }
        if !scan.orders.isEmpty { found = sorted(found, by: scan.orders) }
        if let limit = scan.limit { found = Array(found.prefix(limit)) }
        return OpenScan(
            documents: DocumentList(found), isSorted: !scan.orders.isEmpty, description: "hints")
    }

    /// Sorts by the orders alone; ties keep the order of names.
    private func sorted(_ documents: [Document], by orders: [Order]) -> [Document] {
        documents.enumerated().sorted { left, right in
            for order in orders {
                let (a, b) = (key(left.element, order.field), key(right.element, order.field))
                let found = NaiveValues.compare(a, b)
                if found != 0 { return order.direction == .ascending ? found < 0 : found > 0 }
            }
            return left.offset < right.offset
        }.map(\.element)
    }

    private func key(_ document: Document, _ field: FieldPath) -> Value {
        field.isDocumentID
            ? .reference(ReferenceValue(database: testDatabase, path: document.path))
            : document.fields[field] ?? .null
    }
}
