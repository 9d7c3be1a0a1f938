import Tidemark

/// The conditions under which a pager shows older pages from disk, with no reads and no listener.
///
/// A page comes from disk only if the device knows that it has every row of the page. Otherwise
/// only the gap is read, and is known from then on. The newest page is always a listener.
///
/// A pager that is new on the device begins with the result of an earlier listener of its
/// collection and filters, if the cache has one of at most 2,000 rows.
public enum PagesFromDisk: Hashable, Sendable {
    /// Never: every page is a listener, and shows the server's present state.
    case never
    /// Only if the pages were complete within this duration: later edits and deletes by other users
    /// are not shown. Suits data that seldom change.
    case youngerThan(Duration)
    /// Always, with updates. Every document contains the server time of its last change in the
    /// first field, which every write sets with `FieldValue.serverTimestamp()`. Documents are
    /// marked as deleted instead of being deleted: the second field is neither missing nor null in
    /// a deleted document. The pager reads the changes once at its begin, and at
    /// ``Pager/refresh()``, at a read for each change and at least one. A query cannot find a
    /// document that has left it: a row that no longer fits a filter stays, so filter only by
    /// fields that never change.
    case keptRight(changeTime: String, deletedField: String?)
}

/// ``PagesFromDisk`` with its texts parsed and its rules checked.
struct ParsedPagesFromDisk: Sendable {
    /// The maximum age of a complete range; nil for any age.
    let maxAge: Duration?
    let changeTime: FieldPath?
    let deletedField: FieldPath?

    /// Creates the parsed form; nil if no page comes from disk.
    init?(_ pages: PagesFromDisk) throws(FirestoreError) {
        switch pages {
        case .never: return nil
        case .youngerThan(let age):
            guard age >= .zero else {
                throw .invalidArgument("No page is younger than \(age).")
            }
            maxAge = age
            changeTime = nil
            deletedField = nil
        case .keptRight(let field, let deleted):
            maxAge = nil
            changeTime = try field.resolved()
            deletedField = try deleted?.resolved()
        }
    }
}
