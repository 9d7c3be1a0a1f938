package import TidemarkModel

/// The rules of a feed's reads.
package struct FeedRules: Hashable, Sendable {
    /// The way in which a feed learns about changes of its held items.
    package enum Way: Hashable, Sendable {
        /// The feed reads the items whose change time is newer than its last read.
        ///
        /// - Parameter audited: True if the feed also counts the items that exist.
        case changeTime(audited: Bool)
        /// The feed compares the server's counts with the held items.
        case audit
        /// The feed expects no changes: the items do not change.
        case itemTime

        /// True if a sync ends with an audit.
        package var audits: Bool {
            switch self {
            case .changeTime(let audited): audited
            case .audit: true
            case .itemTime: false
            }
        }
    }

    package var way: Way
    /// The maximum number of rows per call, at least 1.
    package var pageSize: Int
    /// The time by which a delta reaches back.
    package var overlap: Duration
    /// The number of the newest items above the clear mark to hold; nil for all of them.
    package var limit: Int?
    /// The shortest absence after which a feed with a limit counts the changes before it reads.
    package var longAbsence = Self.longAbsence

    /// Three days. After a shorter absence the changes are usually few, and a count costs a read
    /// and a round trip more.
    package static let longAbsence = Duration.seconds(3 * 86_400)

    #if TIDEMARK_DEFECTS
        package var defects: PlantedDefects = []
    #endif

    package init(
        way: Way, pageSize: Int = 500, overlap: Duration = ChangeCursor.defaultOverlap,
        limit: Int? = nil
    ) {
        precondition(pageSize > 0)
        precondition(limit.map { $0 > 0 } ?? true)
        self.way = way
        self.pageSize = pageSize
        self.overlap = overlap
        self.limit = limit
    }
}

/// The properties of a document that a feed records.
package struct FeedBookRow: Hashable, Sendable {
    package var path: DocumentPath
    /// The item time; nil if the document has none.
    package var itemTime: Timestamp?
    package var changeTime: Timestamp?
    package var updateTime: Timestamp

    package init(
        path: DocumentPath, itemTime: Timestamp?, changeTime: Timestamp?, updateTime: Timestamp
    ) {
        self.path = path
        self.itemTime = itemTime
        self.changeTime = changeTime
        self.updateTime = updateTime
    }

    var change: ChangeCursor.Row? {
        changeTime.map {
            ChangeCursor.Row(path: path, changeTime: $0, updateTime: updateTime)
        }
    }
}
