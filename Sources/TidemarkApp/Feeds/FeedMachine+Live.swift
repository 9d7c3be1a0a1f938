package import Tidemark

/// A listener of a feed that is live; bounded, whatever is written.
package struct FeedListen: Hashable, Sendable {
    package enum Question: Hashable, Sendable {
        /// What has a change time from here on.
        case changes(since: Timestamp)
        /// Items of a range, the newest first.
        case items(Range<CoveragePosition>)
        /// The newest above the clear mark.
        case head(action: Timestamp?)
        /// The mark that the user's devices share.
        case marks
    }

    /// What is heard of an earlier one comes too late.
    package let number: Int
    package let question: Question
    /// Rows at the most.
    package let limit: Int
}

/// What a listener told.
package struct FeedHeard: Sendable {
    package var number: Int
    /// Documents that came, changed or went since it last told.
    package var changed: [DocumentPath]
    /// All that it shows, in the order of its query; those with pending writes left out.
    package var rows: [FeedBookRow]
    /// As of when the server has confirmed it; nil where it has not.
    package var readTime: Timestamp?
    /// Whether it shows as many as it may: there may be more.
    package var isFull: Bool
    /// Whether it is full of just what the server had at `readTime`, as a page read then would be.
    package var isPage = false
    /// For the marks' listener: the marks that are there.
    package var mark: SharedMarks?
}

// Live: up to date by listening, after what was missing has been read.

extension FeedMachine {
    struct LiveRun: Hashable {
        var isWanted = false
        var lastNumber = 0
        var listen: FeedListen?
        var marks: FeedListen?
        /// Whether the last word of the marks' listener was the server's, and not of this device's writes alone.
        var hasMarks = false
        /// Whether the marks' listener is open, and the server has not told it anything yet.
        var isOpeningMarks = false
        /// Whether the listener's last word was the server's.
        var isConfirmed = false
        /// Whether a listener to changes is open, and the server has not told it anything yet: what a sync would
        /// ask is on its way.
        var isOpening = false
        /// Of syncs and listeners, in a row.
        var failures = 0
        var isWaiting = false
        /// Whether the disk is to be asked for what this device wrote, also while it waits.
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
        if progress.live != nil { effects.append(.saveProgress(progress)) }
    }

    /// One's own rows are shown at once, with or without a server: a listener that compares a time does
    /// not tell of those whose time the server is still to set.
    mutating func written() {
        guard live.isWanted, opening == .open else { return }
        disk.readChanges()
        live.mustShowOwn = true
    }

    /// Opens what is missing: a sync where something was never read, else the listeners.
    mutating func advanceLive(_ now: DeviceTime, _ effects: inout [Effect]) {
        guard live.isWanted, !live.isWaiting, sync == nil || mayJoinListener, opening == .open
        else { return }
        if settings.sharesMarks, live.marks == nil {
            live.marks = listen(.marks, limit: 1, &effects)
            live.isOpeningMarks = true
        }
        if live.listen != nil {
            // A mark that was reset opens a gap that no listener fills, and so do more new items than
            // a listener to the newest shows. A sync that failed says so until another one has not.
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
        // A look at the newest need show no more than are held.
        if case .head = question { limit = min(limit, settings.rules.limit ?? .max) }
        if case .changes(let since) = question {
            let resumes = ReadPlanner.resumes(progress, now: serverNow(now))
            limit = ReadPlanner.listenLimit(
                progress, since: since, resumes: resumes, now: serverTime.estimate(at: now),
                settings.rules)
            let plan = ReadPlanner.listen(
                progress, since: since, limit: limit, resumes: resumes, settings.rules)
            tell(.asked(plan), &effects)
            progress.beginLive(since: since, limit: limit)
            live.isOpening = true
        }
        live.listen = listen(question, limit: limit, &effects)
    }

    /// Nil where a sync has to come first.
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
        effects.append(.unlisten(listen.number))
        (live.listen, live.isOpening) = (nil, false)
    }

    /// A wait for the first word of a listener: no longer than a read may take.
    mutating func awaitListener(_ effects: inout [Effect]) -> Int {
        live.lastNumber += 1
        effects.append(.awaitListener(live.lastNumber))
        return live.lastNumber
    }

    /// A sync that waited for the listener to changes goes on.
    private mutating func endChangesWait(_ effects: inout [Effect]) {
        guard let number = sync?.changesWait else { return }
        sync?.changesWait = nil
        effects.append(.unlisten(number))
        readNext(&effects)
    }

    mutating func heard(_ heard: FeedHeard, _ now: DeviceTime, _ effects: inout [Effect]) {
        if heard.number == live.marks?.number {
            live.hasMarks = heard.readTime != nil && heard.mark?.isOwnAlone != true
            if let readTime = heard.readTime {
                live.isOpeningMarks = false
                takeShared(heard.mark, readTime, now, &effects)
                endMarksWait(&effects)
            }
            return
        }
        guard let listen = live.listen, heard.number == listen.number else { return }
        live.isConfirmed = heard.readTime != nil
        if !heard.changed.isEmpty { disk.readChanges(heard.changed) }
        guard let readTime = heard.readTime else {
            // The connection is gone; what it told before still holds, and grows old.
            if isFresh { isChanged = true }
            isFresh = false
            return
        }
        let joins = live.isOpening && mayJoinListener
        live.isOpening = false
        learn(readTime, at: now, &effects)
        if heard.isFull, !isHead(listen) {
            // There may be more than it shows: pages bring them, and it begins anew above them.
            stopListening(&effects)
            progress.endLive()
            if sync == nil {
                sync = run(behind: heard, of: listen, readTime)
            } else if joins {
                let behind = run(behind: heard, of: listen, readTime)
                sync?.reach = behind.reach
                endChangesWait(&effects)
            }
            // A page of items of one time would be full again at once.
            if case .items = listen.question { waitToTryAgain(&effects) }
            return
        }
        live.failures = 0
        progress.heard(heard.rows, in: listen.range, readTime: readTime, settings.rules)
        progress.note(now: now.wall)
        if let action = marks.action { progress.cut(action: action) }
        failure = nil
        isFresh = self.readTime != nil
        isChanged = true
        if live.savedAt.map({ readTime.duration(since: $0) >= .seconds(60) }) ?? true {
            live.savedAt = readTime
            effects.append(.saveProgress(progress))
        }
        if joins {
            sync?.reach.takeChanges(news: 0)
            sync?.reach.startedAt = readTime
            endChangesWait(&effects)
        }
    }

    /// A sync that takes the changes which a full listener shows for its first page, and goes on behind them.
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
        _ number: Int, _ error: FirestoreError, _ effects: inout [Effect]
    ) {
        if number == live.marks?.number {
            (live.marks, live.hasMarks, live.isOpeningMarks) = (nil, false, false)
            tell(.notShared(error), &effects)
            endMarksWait(&effects)
        } else if number == live.listen?.number {
            (live.listen, live.isOpening) = (nil, false)
            progress.endLive()
            if sync?.changesWait != nil { endSync(.failed(error), &effects) }
            failure = error
            isChanged = true
        } else {
            return
        }
        // The user is another one: nothing will come of trying again.
        if error.code == .cancelled { live.isWanted = false }
        waitToTryAgain(&effects)
    }

    /// 1 s, twice as long each time, a minute at the most.
    mutating func waitToTryAgain(_ effects: inout [Effect]) {
        guard live.isWanted, !live.isWaiting else { return }
        live.failures += 1
        live.isWaiting = true
        effects.append(.wait(.seconds(min(60, 1 << min(6, live.failures - 1)))))
    }
}

extension FeedListen {
    /// Of which items it tells; nil for those of any time.
    var range: Range<CoveragePosition>? {
        switch question {
        case .changes, .marks: nil
        case .items(let range): range
        case .head(let action):
            (action.map { .end(of: $0) } ?? .lowest)..<CoveragePosition.highest
        }
    }
}
