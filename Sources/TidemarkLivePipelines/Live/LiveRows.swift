package import Tidemark
import TidemarkPipelines

/// The rows of a live pipeline, before they become a snapshot of an app.
package struct LiveRows: Sendable {
    /// A row, with the document that it still belongs to.
    package struct Row: Equatable, Sendable {
        package let path: DocumentPath?
        package let fields: MapValue
        let createTime: Timestamp?
        let updateTime: Timestamp?

        init(_ row: PipelineRow) {
            path = row.name?.path
            fields = row.fields
            createTime = row.createTime
            updateTime = row.updateTime
        }
    }

    package let rows: [Row]
    /// The time as of which the rows are true; the time of the computation for rows that are stale.
    package let time: Timestamp
    package let freshness: Freshness
    package let hasPendingWrites: Bool
    let searched: [SearchedDocuments]

    init(
        _ rows: [Row], sources: LiveSources, searches: [QueryValue],
        words: [WordIndexDefinition], hasPendingTimes: Bool, now: Timestamp
    ) {
        self.rows = rows
        freshness = sources.freshness(now: now)
        time = freshness.readTime ?? now
        hasPendingWrites = sources.havePendingWrites || hasPendingTimes
        searched = searches.map { query in
            SearchedDocuments(
                query, words: words, usesIndex: false, completeAt: sources.readTime)
        }
    }
}

extension Pipeline.Snapshot {
    init(_ live: LiveRows, _ firestore: Firestore) {
        self.init(
            live.rows.map { row in
                PipelineResult(
                    firestore, path: row.path, fields: row.fields, createTime: row.createTime,
                    updateTime: row.updateTime)
            },
            executionTime: live.time, freshness: live.freshness,
            hasPendingWrites: live.hasPendingWrites, searched: live.searched)
    }
}
