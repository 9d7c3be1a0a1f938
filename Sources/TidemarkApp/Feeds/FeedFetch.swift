package import Tidemark

/// One page that a feed asks the server for, and what it knew when it asked.
package struct FeedFetch: Hashable, Sendable {
    package let plan: ReadPlan
    let progress: FeedProgress
    let action: Timestamp?
    /// The time on the device's clock when it asked; nil if it is not known.
    let askedAt: Timestamp?

    package init(
        plan: ReadPlan, progress: FeedProgress, action: Timestamp?, askedAt: Timestamp? = nil
    ) {
        self.plan = plan
        self.progress = progress
        self.action = action
        self.askedAt = askedAt
    }

    /// What the page comes to; its progress is stored in the transaction that stores its documents.
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
    /// Those that are new here, or new in this version, as far as the feed's books tell.
    package let changed: [DocumentPath]
    /// What it was asked for; nil for a page that a test made.
    var plan: ReadPlan?
    /// The listener to changes that goes on from this page; nil if it begins with an answer of its
    /// own.
    package internal(set) var followed: FeedListen?
    /// Of which part of its plan's range it has all items; nil for changes.
    package internal(set) var covered: Range<CoveragePosition>?
    /// What of that range is still to be read; nil for nothing.
    package internal(set) var rest: Range<CoveragePosition>?
}

extension FeedProgress {
    /// Returns the listener to changes that follows a page of the newest items, as the feed opens it
    /// next. The page has all of its documents that the feed holds, so the server has nothing to
    /// send again.
    fileprivate func nextListen(_ readTime: Timestamp, _ rules: FeedRules) -> FeedListen? {
        guard case .changeTime = rules.way, let since = cursor.since else { return nil }
        let limit = ReadPlanner.listenLimit(
            self, since: since, resumes: false, now: readTime, rules)
        return FeedListen(number: 0, question: .changes(since: since), limit: limit)
    }
}
