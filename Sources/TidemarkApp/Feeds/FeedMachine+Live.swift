package import Tidemark

/// A listener of a live feed. Its number of rows is limited, independent of the number of writes.
package struct FeedListen: Hashable, Sendable {
    package enum Question: Hashable, Sendable {
        /// The documents with a change time from `since`.
        case changes(since: Timestamp)
        /// The items of a range, newest first.
        case items(Range<CoveragePosition>)
        /// The newest items above the clear mark.
        case head(action: Timestamp?)
        /// The marks that the user's devices share.
        case marks
    }

    /// The number of the listener. Snapshots of an earlier listener are ignored.
    package let number: Int
    package let question: Question
    /// The maximum number of rows.
    package let limit: Int
}

/// A snapshot of a listener.
package struct FeedHeard: Sendable {
    package var number: Int
    /// The documents that were added, changed or removed since the listener's last snapshot.
    package var changed: [DocumentPath]
    /// The shown rows in the order of the query, without rows that have pending writes.
    package var rows: [FeedBookRow]
    /// The time of the server's confirmation; nil if the server has not confirmed the snapshot.
    package var readTime: Timestamp?
    /// True if the number of rows is the maximum, so there can be more.
    package var isFull: Bool
    /// True if the rows are full and are exactly the server's at `readTime`, like a page that is
    /// read then.
    package var isPage = false
    /// The marks, for the listener of the marks.
    package var mark: SharedMarks?
}

// A live feed first reads everything that is missing, and then stays up to date by listening.

extension FeedMachine {
    struct LiveRun: Hashable {
        var isWanted = false
        var lastNumber = 0
        var listen: FeedListen?
        var marks: FeedListen?
        /// True if the last snapshot of the marks' listener was the server's, and contains more
        /// than this device's own writes.
        var hasMarks = false
        /// True if the marks' listener is open, and the server has not answered it yet.
        var isOpeningMarks = false
        /// True if the server has confirmed the listener's last snapshot.
        var isConfirmed = false
        /// True if a listener to changes is open, and the server has not answered it yet. The
        /// listener's request is the same as a sync's.
        var isOpening = false
        /// The number of consecutive failures of syncs and listeners.
        var failures = 0
        var isWaiting = false
        /// True if the disk must be read for this device's writes, even during a wait.
        var mustShowOwn = false
        var savedAt: Timestamp?
    }

    mutating func live(_ isWanted: Bool, _ effects: inout [Effect]) {
        guard live.isWanted != isWanted else { return }
        live.isWanted = isWanted
        if isWanted { return }
        live.mustShowOwn = false
        stopListening(&effects)
        if let marks = live.marks { effects.append(.unlisten(marks.number)) }
        (live.marks, live.hasMarks, live.isOpeningMarks) = (nil, false, false)
        endMarksWait(&effects)
        endChangesWait(&effects)
        if progress.live != nil { saveProgress(&effects) }
    }

    /// Shows this device's own writes immediately, with or without a server. A listener that
    /// compares a time does not report rows whose time the server has not set yet.
    mutating func written() {
        guard live.isWanted, opening == .open else { return }
        disk.readChanges()
        live.mustShowOwn = true
    }

    /// Starts the missing part: a sync if something was never read, otherwise the listeners.
    mutating func advanceLive(_ now: DeviceTime, _ effects: inout [Effect]) {
        guard live.isWanted, !live.isWaiting, sync == nil || mayJoinListener, opening == .open
        else { return }
        if settings.sharesMarks, live.marks == nil {
            live.marks = listen(.marks, limit: 1, &effects)
            live.isOpeningMarks = true
        }
        if live.listen != nil {
            // A reset mark opens a gap that no listener fills. New items can be more than a
            // listener to the newest shows. A failed sync stays the failure until another sync
            // succeeds.
            if live.isConfirmed, sync == nil {
                if readTime == nil || failure != nil { sync = SyncRun() }
                beginOlder(isListening: true)
            }
            return
        }
        guard let question = nextListen(now) else {
            if sync == nil { sync = SyncRun() }
            return
        }
        var limit = settings.rules.pageSize
        // A listener to the newest items needs no more rows than the feed holds.
        if case .head = question { limit = min(limit, settings.rules.limit ?? .max) }
        if case .changes(let since) = question {
            let resumes = ReadPlanner.resumes(progress, now: serverNow(now))
            limit = ReadPlanner.listenLimit(
                progress, since: since, resumes: resumes, now: serverTime.estimate(at: now),
                settings.rules)
            let plan = ReadPlanner.listen(
                progress, since: since, limit: limit, resumes: resumes, settings.rules)
            notify(.asked(plan), &effects)
            progress.beginLive(since: since, limit: limit)
            live.isOpening = true
        }
        live.listen = listen(question, limit: limit, &effects)
    }

    /// Returns the question of the next listener; nil if a sync must come first.
    func nextListen(_ now: DeviceTime) -> FeedListen.Question? {
        switch settings.rules.way {
        case .changeTime(let audited):
            guard progress.gaps(above: marks.action, settings.rules).isEmpty,
                !audited || isFresh,
                let since = ReadPlanner.liveStart(progress, now: serverNow(now)),
                ReadPlanner.resumes(progress, now: serverNow(now)) || !mustReadBeforeListening
            else { return nil }
            return .changes(since: since)
        case .itemTime:
            guard isFresh, readTime != nil else { return nil }
            return .items(progress.newestRange(above: marks.action))
        case .audit:
            guard isFresh, readTime != nil else { return nil }
            return .head(action: marks.action)
        }
    }

    private mutating func listen(
        _ question: FeedListen.Question, limit: Int, _ effects: inout [Effect]
    ) -> FeedListen {
        live.lastNumber += 1
        live.isConfirmed = false
        let listen = FeedListen(number: live.lastNumber, question: question, limit: limit)
        effects.append(.listen(listen))
        return listen
    }

    private mutating func stopListening(_ effects: inout [Effect]) {
        guard let listen = live.listen else { return }
        sync?.heard = nil
        effects.append(.unlisten(listen.number))
        (live.listen, live.isOpening) = (nil, false)
    }

    /// Waits for the first snapshot of a listener, at most as long as for a read.
    mutating func awaitListener(_ effects: inout [Effect]) -> Int {
        live.lastNumber += 1
        effects.append(.awaitListener(live.lastNumber))
        return live.lastNumber
    }

    /// Continues a sync that waited for the listener to changes.
    private mutating func endChangesWait(_ effects: inout [Effect]) {
        guard let number = sync?.changesWait else { return }
        sync?.changesWait = nil
        effects.append(.unlisten(number))
        readNext(&effects)
    }

    mutating func heard(_ heard: FeedHeard, now: DeviceTime, effects: inout [Effect]) {
        if heard.number == live.marks?.number {
            live.hasMarks = heard.readTime != nil && heard.mark?.isOwnAlone != true
            if let readTime = heard.readTime {
                live.isOpeningMarks = false
                takeShared(heard.mark, readTime: readTime, now: now, effects: &effects)
                endMarksWait(&effects)
            }
            return
        }
        guard let listen = live.listen, heard.number == listen.number else { return }
        live.isConfirmed = heard.readTime != nil
        if !heard.changed.isEmpty { disk.readChanges(heard.changed) }
        guard let readTime = heard.readTime else {
            // The connection is lost. The earlier snapshots are still valid, and become stale.
            if isFresh { isChanged = true }
            isFresh = false
            return
        }
        let joins = live.isOpening && mayJoinListener
        live.isOpening = false
        learn(readTime, at: now, &effects)
        if heard.isFull, !isHead(listen) {
            // There can be more rows than the listener shows. Pages read them, and the listener
            // starts again above them.
            stopListening(&effects)
            progress.endLive()
            if sync == nil {
                sync = run(behind: heard, of: listen, readTime)
            } else if joins {
                let behind = run(behind: heard, of: listen, readTime)
                sync?.reach = behind.reach
                endChangesWait(&effects)
            }
            // A page of items with equal times would be full again immediately.
            if case .items = listen.question { waitToTryAgain(&effects) }
            return
        }
        live.failures = 0
        progress.heard(heard.rows, in: listen.range, readTime: readTime, settings.rules)
        progress.note(now: now.wall)
        if sync?.stage == .page {
            sync?.heard = SyncRun.Heard(
                rows: heard.rows, range: listen.range, readTime: readTime, notedAt: now.wall)
        }
        if let action = marks.action { progress.cut(action: action) }
        failure = nil
        isFresh = self.readTime != nil
        isChanged = true
        if live.savedAt.map({ readTime.duration(since: $0) >= .seconds(60) }) ?? true {
            live.savedAt = readTime
            saveProgress(&effects)
        }
        if joins {
            sync?.reach.takeChanges(news: 0)
            sync?.reach.startedAt = readTime
            endChangesWait(&effects)
        }
    }

    /// Returns a sync whose first page is the changes that a full listener shows. The sync
    /// continues after them.
    private mutating func run(
        behind heard: FeedHeard, of listen: FeedListen, _ readTime: Timestamp
    ) -> SyncRun {
        var run = SyncRun()
        guard case .changes = listen.question, heard.isPage,
            let news = progress.heardPage(heard.rows, readTime: readTime)
        else { return run }
        run.reach.takeChanges(news: news)
        run.reach.startedAt = readTime
        return run
    }

    private func isHead(_ listen: FeedListen) -> Bool {
        if case .head = listen.question { true } else { false }
    }

    mutating func listenFailed(
        _ number: Int, error: FirestoreError, effects: inout [Effect]
    ) {
        if number == live.marks?.number {
            (live.marks, live.hasMarks, live.isOpeningMarks) = (nil, false, false)
            notify(.notShared(error), &effects)
            endMarksWait(&effects)
        } else if number == live.listen?.number {
            (live.listen, live.isOpening) = (nil, false)
            sync?.heard = nil
            progress.endLive()
            if sync?.changesWait != nil { endSync(.failed(error), &effects) }
            failure = error
            isChanged = true
        } else {
            return
        }
        // The user has changed, so a retry cannot succeed.
        if error.code == .cancelled { live.isWanted = false }
        waitToTryAgain(&effects)
    }

    /// Waits for 1 s, then twice as long each time, at most 60 s.
    mutating func waitToTryAgain(_ effects: inout [Effect]) {
        guard live.isWanted, !live.isWaiting else { return }
        live.failures += 1
        live.isWaiting = true
        effects.append(.wait(.seconds(min(60, 1 << min(6, live.failures - 1)))))
    }
}

extension FeedListen {
    /// The range of the listener's items; nil for a listener without a range.
    var range: Range<CoveragePosition>? {
        switch question {
        case .changes, .marks: nil
        case .items(let range): range
        case .head(let action):
            (action.map { .end(of: $0) } ?? .lowest)..<CoveragePosition.highest
        }
    }
}
