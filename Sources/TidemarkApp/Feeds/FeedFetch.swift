package import Tidemark

/// A page that a feed requests from the server, with the feed's progress at the request.
package struct FeedFetch: Hashable, Sendable {
    package let plan: ReadPlan
    let progress: FeedProgress
    let action: Timestamp?
    /// The time of the request on the device's clock; nil if it is not known.
    let askedAt: Timestamp?

    package init(
        plan: ReadPlan, progress: FeedProgress, action: Timestamp?, askedAt: Timestamp? = nil
    ) {
        self.plan = plan
        self.progress = progress
        self.action = action
        self.askedAt = askedAt
    }

    /// Returns the resulting page. Its progress is stored in the transaction that stores its
    /// documents.
    package func page(
        _ documents: [Document], readTime: Timestamp, _ definition: ParsedDefinition
    ) -> FeedPage {
        let rows = documents.map(definition.bookRow)
        var next = progress
        let fresh = next.receive(rows, of: plan, readTime: readTime, rules: definition.rules)
        if let askedAt, next.lastReadTime != progress.lastReadTime { next.note(now: askedAt) }
        if let action { next.cut(action: action) }
        var page = FeedPage(
            progress: next, readTime: readTime, rows: documents.count,
            changed: fresh.map(\.path))
        page.plan = plan
        if plan.beginsAnew { page.followed = next.nextListen(readTime, definition.rules) }
        if case .items(let range) = plan.question {
            let covered = FeedProgress.covered(
                by: rows, of: range, isLast: rows.count < plan.pageSize)
            page.covered = covered
            if let last = progress.lastReadTime {
                page.late = Set(documents.filter { $0.updateTime > last }.map(\.path))
            }
            if range.lowerBound < covered.lowerBound {
                page.rest = range.lowerBound..<covered.lowerBound
            }
        }
        return page
    }
}

/// A page that has arrived and is stored.
package struct FeedPage: Hashable, Sendable {
    package let progress: FeedProgress
    package let readTime: Timestamp
    package let rows: Int
    /// The documents that are new here, or new in this version, by the feed's records.
    package let changed: [DocumentPath]
    /// The plan of the request; nil for a page that a test made.
    var plan: ReadPlan?
    /// The listener to changes that continues from this page; nil if the listener needs its own
    /// first answer.
    package internal(set) var followed: FeedListen?
    /// The part of the plan's range that is complete; nil for changes.
    package internal(set) var covered: Range<CoveragePosition>?
    /// The part of the range that is not read yet; nil for none.
    package internal(set) var rest: Range<CoveragePosition>?
    /// The documents of a page of a range that were written after the last read of changes. No
    /// change time hides them: the next read brings them.
    var late: Set<DocumentPath> = []

    /// Returns the number of documents that the page has added, changed or removed, and that the
    /// reads of changes before it should have brought.
    ///
    /// - Parameter stored: The documents that look different now.
    func hidden(among stored: [DocumentPath]) -> Int { stored.count { !late.contains($0) } }
}

extension FeedProgress {
    /// Returns the listener to changes that the feed opens after a page of the newest items. The
    /// page contains all documents that the feed holds, so the server sends nothing again.
    fileprivate func nextListen(_ readTime: Timestamp, _ rules: FeedRules) -> FeedListen? {
        guard case .changeTime = rules.way, let since = cursor.since else { return nil }
        let limit = ReadPlanner.listenLimit(
            self, since: since, resumes: false, now: readTime, rules)
        return FeedListen(number: 0, question: .changes(since: since), limit: limit)
    }
}
