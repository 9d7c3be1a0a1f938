import Tidemark

// A long absence of a bounded feed: its newest items cost less than all that has changed.

extension FeedMachine {
    /// How long the feed was away, by the device's clock; nil where that does not count: without a limit,
    /// and where it does not go by changes.
    ///
    /// Within twice the overlap all changes are read, whatever their number.
    private func absence(at wall: Timestamp?) -> Duration? {
        guard settings.rules.limit != nil, case .changeTime = settings.rules.way,
            progress.cursor.drain == nil, let wall, let notedAt = progress.notedAt
        else { return nil }
        let away = wall.duration(since: notedAt)
        return away > progress.cursor.overlap * 2 ? away : nil
    }

    /// Whether the window is to be read from disk before anything is asked of the server.
    var mustReadWindowFirst: Bool { !disk.hasRead && absence(at: wall) != nil }

    /// Above which item a sync asks for the newest first; nil where it begins with what changed.
    ///
    /// That is so where as many items as the feed holds have probably come meanwhile, at the pace of those
    /// that it shows. A wrong guess costs the new items a second time, and hides nothing; so does a device's
    /// clock that was turned.
    func newestAbove(at wall: Timestamp?) -> CoveragePosition? {
        guard let away = absence(at: wall), let limit = settings.rules.limit else { return nil }
        let target = max(limit, disk.window.size)
        let rows = disk.window.rows.filter { !$0.hasPendingWrites }
        guard target <= settings.rules.pageSize, let first = rows.first, let last = rows.last
        else { return nil }
        let span = first.time.duration(since: last.time)
        guard span > .zero, away * rows.count >= span * target else { return nil }
        return .end(of: first.time)
    }
}
