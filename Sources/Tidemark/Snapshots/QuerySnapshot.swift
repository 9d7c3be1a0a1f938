import Foundation

/// The rows of a query at one moment.
public struct QuerySnapshot: Sendable {
    public let query: Query
    public let metadata: SnapshotMetadata
    /// States whether the rows are the server's; if not, their age and the reason.
    public var freshness: Freshness { origin.freshness }
    /// The server's read time; nil if the server never confirmed the rows.
    public var readTime: Timestamp? { origin.readTime }
    /// The rows in the query's order.
    public let documents: [QueryDocumentSnapshot]
    package let views: [ViewDocument]
    /// The number of rows that the server has named, including rows that a pending write hides; nil
    /// without a listener.
    package let named: Int?
    private let oldViews: [ViewDocument]
    private let origin: SnapshotOrigin

    private init(
        _ query: Query, _ views: [ViewDocument], old: [ViewDocument], freshness: Freshness,
        readTime: Timestamp?, named: Int?
    ) {
        self.query = query
        self.named = named
        let origin = SnapshotOrigin(query.firestore, freshness, readTime: readTime)
        self.origin = origin
        self.views = views
        oldViews = old
        metadata = SnapshotMetadata(
            hasPendingWrites: views.contains(where: \.hasPendingWrites),
            isFromCache: !freshness.isFresh)
        documents = views.map { QueryDocumentSnapshot(origin, $0.path, $0) }
    }

    init(_ query: Query, _ result: ReadResult) {
        self.init(
            query, result.documents, old: [], freshness: result.freshness,
            readTime: result.freshness.readTime, named: nil)
    }

    /// - Parameter old: The rows of the snapshot that its reader saw before.
    init(
        _ query: Query, view: ViewSnapshot, old: [ViewDocument],
        options: SnapshotListenOptions
    ) {
        self.init(
            query, view.documents, old: old,
            freshness: Freshness(view, options, now: query.firestore.environment.now()),
            readTime: view.readTime, named: view.syncedCount)
    }

    public var isEmpty: Bool { documents.isEmpty }
    public var count: Int { documents.count }

    /// The changes since the previous snapshot, without those of metadata alone.
    public var documentChanges: [DocumentChange] { documentChanges(includeMetadataChanges: false) }

    /// The changes since the previous snapshot, to be applied in order: each index is that of the
    /// row at that moment. Compares all rows.
    public func documentChanges(includeMetadataChanges: Bool) -> [DocumentChange] {
        let rows = RowDifference.between(
            oldViews, views, includeMetadata: includeMetadataChanges)
        return rows.map { row in
            DocumentChange(
                type: row.type,
                document: QueryDocumentSnapshot(origin, row.document.path, row.document),
                oldRow: row.oldIndex, newRow: row.newIndex)
        }
    }
}

/// Two snapshots are equal if they have the same rows of the same query, with the same metadata.
extension QuerySnapshot: Hashable {
    public static func == (left: QuerySnapshot, right: QuerySnapshot) -> Bool {
        left.query == right.query && left.metadata == right.metadata
            && left.documents == right.documents
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(metadata)
        hasher.combine(documents)
    }
}

extension QuerySnapshot: Sequence {
    public func makeIterator() -> IndexingIterator<[QueryDocumentSnapshot]> {
        documents.makeIterator()
    }
}

public enum DocumentChangeType: Hashable, Sendable { case added, modified, removed }

/// The difference of a row from the previous snapshot.
public struct DocumentChange: Hashable, Sendable {
    public let type: DocumentChangeType
    public let document: QueryDocumentSnapshot
    /// The row's index before this change and after the earlier changes; nil for an added row.
    public let oldRow: Int?
    /// The row's index after this change; nil for a removed row.
    public let newRow: Int?

    /// ``oldRow`` in FirebaseFirestore's form: `NSNotFound` for none.
    public var oldIndex: UInt { UInt(oldRow ?? NSNotFound) }
    /// ``newRow`` in FirebaseFirestore's form: `NSNotFound` for none.
    public var newIndex: UInt { UInt(newRow ?? NSNotFound) }
}
