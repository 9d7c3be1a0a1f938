import Tidemark

/// How long a bounded feed was away, and with which read it begins therefore: after a long absence its
/// newest items cost less than all that has changed.
struct FeedAbsence {
    private let away: Duration
    /// Items that the feed holds at the least.
    private let limit: Int

    /// Nil where the absence does not count: without a limit, where the feed does not go by changes, and
    /// within twice the overlap, where all changes are read, whatever their number.
    ///
    /// - Parameter wall: The device's clock.
    init?(of progress: FeedProgress, _ rules: FeedRules, at wall: Timestamp?) {
        guard let limit = rules.limit, case .changeTime = rules.way, progress.cursor.drain == nil,
            let wall, let notedAt = progress.notedAt
        else { return nil }
        away = wall.duration(since: notedAt)
        self.limit = limit
        guard away > progress.cursor.overlap * 2 else { return nil }
    }

    /// Above which item the newest are asked for first; nil where changes are.
    ///
    /// That is so where as many items as the feed holds have probably come meanwhile, at the pace of those
    /// that it shows. A wrong guess costs the new items a second time, and hides nothing; so does a device's
    /// clock that was turned.
    func newestAbove<Content>(_ window: FeedWindow<Content>, pageSize: Int) -> CoveragePosition? {
        let target = max(limit, window.size)
        let rows = window.rows.filter { !$0.hasPendingWrites }
        guard target <= pageSize, let first = rows.first, let last = rows.last else { return nil }
        let span = first.time.duration(since: last.time)
        guard span > .zero, away * rows.count >= span * target else { return nil }
        return .end(of: first.time)
    }
}
