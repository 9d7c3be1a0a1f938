public import Tidemark

/// A document on the server, as the caller of ``Pager/plan(of:at:lastUse:)`` expects it.
public struct ExpectedDocument: Hashable, Sendable {
    public var path: DocumentPath
    /// The value of the field that orders the pages.
    public var time: Timestamp
    /// The server's time of the last change.
    public var changedAt: Timestamp
    /// True if the document is marked as deleted, in the field that the pager is given.
    public var isMarkedDeleted: Bool
    /// The sizes by which the Enterprise edition bills the document.
    public var row: ExpectedRow

    /// - Parameters:
    ///   - path: The document's path.
    ///   - time: The value of the field that orders the pages.
    ///   - changedAt: The server's time of the last change.
    ///   - isMarkedDeleted: True if the document is marked as deleted.
    ///   - row: The sizes of the document and its index entry. They do not matter in the Standard
    ///     edition.
    public init(
        path: DocumentPath, time: Timestamp, changedAt: Timestamp, isMarkedDeleted: Bool = false,
        row: ExpectedRow = ExpectedRow(documentBytes: 0, entryBytes: 0)
    ) {
        self.path = path
        self.time = time
        self.changedAt = changedAt
        self.isMarkedDeleted = isMarkedDeleted
        self.row = row
    }
}

/// A request of a plan, or the changes that a listener receives.
public struct PlannedRead: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// The first answer of a page's listener, as a whole.
        case page
        /// The first answer of a listener that resumes: the changes within the last 30 minutes.
        case resume
        /// Rows that the device does not hold, between others or below them.
        case gap
        /// The changes of the pages from disk.
        case changes
        /// A document that the device holds and the server no longer has in the page.
        case lookup
        /// The changes that open listeners receive.
        case live
    }

    public let kind: Kind
    /// The number of documents.
    public let rows: Int
    /// The bill in both editions.
    public let bill: PlannedBill
}

extension ExpectedDocument {
    var position: PagePosition { PagePosition(value: .timestamp(time), path: path) }
    var pageRow: PageRow<ExpectedDocument> {
        PageRow(position, self, isHidden: isMarkedDeleted)
    }

    func isIn(_ range: Range<CoveragePosition>) -> Bool {
        range.lowerBound <= .before(time, path) && .after(time, path) <= range.upperBound
    }
}
