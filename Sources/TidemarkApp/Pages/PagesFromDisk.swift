import Tidemark

/// When a pager shows older pages from what the device holds, with no reads and no listener.
///
/// A page comes from disk only where the device knows that it holds every row of it. Where it does not,
/// just the gap is read, and known from then on. The newest page is a listener in every case.
public enum PagesFromDisk: Hashable, Sendable {
    /// Never: every page is a listener, and what it shows is the server's present state.
    case never
    /// When they were complete so long ago at the most: edits and deletes of others since then are not
    /// seen. For data that seldom changes once it is there.
    case youngerThan(Duration)
    /// Always, and kept right: every document carries a server time of its last change under the first
    /// name, set with `FieldValue.serverTimestamp()` by every write, and deletes are marked, not made:
    /// the second name is of a field that is neither missing nor null in a deleted document. What
    /// changed since the last time is asked for once, when the pager begins and at
    /// ``Pager/refresh()``, at a read for each change and at least one. No query finds what has left
    /// it: a row that a filter no longer fits stays, so let a filter be on what never changes.
    case keptRight(changeTime: String, deletedField: String?)
}

/// ``PagesFromDisk`` with its texts parsed and its rules checked.
struct ParsedPagesFromDisk: Sendable {
    /// What was complete longer ago does not count; nil for any age.
    let maxAge: Duration?
    let changeTime: FieldPath?
    let deletedField: FieldPath?

    /// Nil where no page comes from disk.
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
