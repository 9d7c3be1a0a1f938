package import TidemarkModel

/// A source over documents that were collected for one pipeline. It finds the documents of a
/// collection without a pass over all of them.
package final class CollectedSource: PipelineSource {
    /// The documents of the first scan, if they were collected by its hints.
    package struct First {
        let scan: PipelineScan
        let documents: [Document]
        let isSorted: Bool

        /// - Parameter isSorted: True if the documents come in the order of the scan.
        package init(_ scan: PipelineScan, _ documents: [Document], isSorted: Bool) {
            self.scan = scan
            self.documents = documents
            self.isSorted = isSorted
        }
    }

    private let first: First?
    /// The other documents, in the order of their names.
    private let documents: [Document]
    private lazy var byCollection = Dictionary(grouping: documents, by: \.path.parent)
    private lazy var byPath = Dictionary(documents.map { ($0.path, $0) }) { first, _ in first }

    package init(_ documents: [Document], first: First? = nil) {
        self.first = first
        self.documents = documents.sorted { $0.path < $1.path }
    }

    package func open(_ scan: PipelineScan) throws(PipelineError) -> OpenScan {
        if let first, first.scan == scan {
            return OpenScan(
                documents: DocumentList(first.documents),
                isSorted: first.isSorted && !scan.orders.isEmpty, description: "cache")
        }
        let found =
            switch scan.origin {
            case .collection(let path): byCollection[path] ?? []
            case .collectionGroup(let id):
                documents.filter { $0.path.collectionID.hasSameBytes(as: id) }
            case .database: documents
            case .documents(let paths): paths.compactMap { byPath[$0] }
            case .subcollection: [Document]()
            }
        return OpenScan(documents: DocumentList(found), description: "cache")
    }
}
