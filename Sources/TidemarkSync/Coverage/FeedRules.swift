package import TidemarkModel

/// What a feed's reads go by.
package struct FeedRules: Hashable, Sendable {
    /// How a feed learns what became of the items that it holds.
    package enum Way: Hashable, Sendable {
        /// By the server's time of their last change.
        ///
        /// - Parameter audited: Whether it is counted, too, which of them are there.
        case changeTime(audited: Bool)
        /// By counting.
        case audit
        /// Not at all: they never change.
        case itemTime

        /// Whether a sync ends with an audit.
        package var audits: Bool {
            switch self {
            case .changeTime(let audited): audited
            case .audit: true
            case .itemTime: false
            }
        }
    }

    package var way: Way
    /// Rows a call, at least 1.
    package var pageSize: Int
    /// How far a delta reaches back.
    package var overlap: Duration
    /// How many of the newest items above the clear mark are to be held; nil for all of them.
    package var limit: Int?

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

/// A document as a feed's books see it.
package struct FeedBookRow: Hashable, Sendable {
    package var path: DocumentPath
    /// Nil where the document says no time.
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
