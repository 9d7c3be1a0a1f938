package import TidemarkModel

/// The documents that a pipeline reads.
package protocol PipelineSource {
    /// Opens a scan. A run drops the result when it needs no more rows.
    ///
    /// - Throws: ``PipelineError``, for example if `forceIndex` names no index.
    func open(_ scan: PipelineScan) throws(PipelineError) -> OpenScan
}

/// A request for documents, with hints that a source may use to read fewer.
///
/// A run checks conditions, orders and limits itself, so a source that ignores all hints is
/// correct.
package struct PipelineScan: Hashable, Sendable {
    package enum Origin: Hashable, Sendable {
        case collection(CollectionPath)
        /// Every collection with this id.
        case collectionGroup(String)
        case database
        /// The existing documents among these.
        case documents([DocumentPath])
        /// A collection below the document of an outer row. Occurs only in
        /// ``ValidatedPipeline/sources``: a run asks for the collection itself.
        case subcollection(String)
    }

    package var origin: Origin
    /// The index that the client demands; `primary` for a scan of the documents.
    package var forceIndex: String?
    /// The documents that the run needs match. A source can leave out others.
    package var filter: Filter?
    /// An order in which the documents may come. Empty unless ``filter`` ensures that every
    /// document has the fields.
    package var orders: [Order]
    /// The number of rows that the run needs, if the source applies both the filter and the orders.
    package var limit: Int?
    /// Words that the documents contain that the run needs. A source can leave out others.
    package var terms: [SearchTerm]

    package init(
        origin: Origin, forceIndex: String? = nil, filter: Filter? = nil, orders: [Order] = [],
        limit: Int? = nil, terms: [SearchTerm] = []
    ) {
        self.origin = origin
        self.forceIndex = forceIndex
        self.filter = filter
        self.orders = orders
        self.limit = limit
        self.terms = terms
    }
}

/// A scan that a source has begun.
package struct OpenScan {
    package let documents: any PipelineDocuments
    /// True if the documents come in the order of ``PipelineScan/orders``. Otherwise, they come in
    /// any order.
    package let isSorted: Bool
    /// The index, or how else the source finds the documents, for the explanation of a run.
    package let description: String

    package init(
        documents: any PipelineDocuments, isSorted: Bool = false, description: String = ""
    ) {
        self.documents = documents
        self.isSorted = isSorted
        self.description = description
    }
}

/// The documents of a scan, one at a time.
package protocol PipelineDocuments: AnyObject {
    /// Returns the next document, or nil after the last.
    ///
    /// - Throws: ``PipelineError``, which ends the run. A caller cancels a run by throwing here.
    func next() throws(PipelineError) -> Document?
}

/// A source over a list of documents. Ignores all hints.
package struct ListSource: PipelineSource {
    private let documents: [Document]

    /// - Parameter documents: The documents in any order. A scan returns them in the order of their
    ///   names, except a scan of listed documents.
    package init(_ documents: [Document]) {
        self.documents = documents.sorted { $0.path < $1.path }
    }

    package func open(_ scan: PipelineScan) throws(PipelineError) -> OpenScan {
        let found =
            switch scan.origin {
            case .collection(let path): documents.filter { $0.path.parent == path }
            case .collectionGroup(let id):
                documents.filter { $0.path.collectionID.hasSameBytes(as: id) }
            case .database: documents
            case .documents(let paths):
                paths.compactMap { path in documents.first { $0.path == path } }
            case .subcollection: [Document]()
            }
        return OpenScan(documents: DocumentList(found), description: "list")
    }
}

/// Documents of a list, in its order.
package final class DocumentList: PipelineDocuments {
    private var rest: ArraySlice<Document>

    package init(_ documents: [Document]) { rest = documents[...] }

    package func next() throws(PipelineError) -> Document? { rest.popFirst() }
}
