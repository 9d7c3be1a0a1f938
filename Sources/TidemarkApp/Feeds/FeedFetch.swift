package import Tidemark

/// One page that a feed asks the server for, and what it knew when it asked.
package struct FeedFetch: Hashable, Sendable {
    package let plan: ReadPlan
    let progress: FeedProgress
    let action: Timestamp?

    package init(plan: ReadPlan, progress: FeedProgress, action: Timestamp?) {
        self.plan = plan
        self.progress = progress
        self.action = action
    }

    /// What the page comes to; its progress is stored in the transaction that stores its documents.
    package func page(
        _ documents: [Document], readTime: Timestamp, _ definition: ParsedDefinition
    ) -> FeedPage {
        var next = progress
        let fresh = next.receive(
            documents.map(definition.row), readTime: readTime, action: action,
            floor: plan.floor, isLast: documents.count < plan.pageSize)
        return FeedPage(
            progress: next, readTime: readTime, rows: documents.count,
            changed: fresh.map(\.path))
    }
}

/// A page that has arrived and is stored.
package struct FeedPage: Hashable, Sendable {
    package let progress: FeedProgress
    package let readTime: Timestamp
    package let rows: Int
    /// Those that are new here, or new in this version.
    package let changed: [DocumentPath]
}
