import Tidemark

// What is shown, and what is read from disk for it.

extension FeedMachine {
    /// What the disk has been asked for; one thing at a time.
    enum DiskWork: Hashable {
        /// - Parameter isStale: What was to be read is no longer what is wanted.
        case items(isAnew: Bool, isStale: Bool)
        case changes(Set<DocumentPath>)
        case count(isStale: Bool)
    }

    mutating func open(_ call: CallID) {
        waiting.append(Waiting(call: call, outcome: .opened))
        failure = nil
        readAnew()
    }

    mutating func loadMore(_ count: Int, _ call: CallID) {
        precondition(count > 0)
        waiting.append(Waiting(call: call, outcome: .opened))
        window.grow(by: count)
        forgetCount()
    }

    mutating func loaded(
        _ marks: Marks, _ progress: FeedProgress, _ now: DeviceTime, _ effects: inout [Effect]
    ) {
        precondition(opening == .loading)
        opening = .open
        self.marks.merge(marks)
        self.progress = progress
        if let action = self.marks.action { self.progress.cut(action: action) }
        let moves = movesBeforeOpening
        movesBeforeOpening = []
        for move in moves { self.move(move, now, &effects) }
    }

    mutating func readAnew() {
        mustReadAnew = true
        forgetCount()
        if case .items(let isAnew, _)? = disk { disk = .items(isAnew: isAnew, isStale: true) }
    }

    mutating func forgetCount() {
        countedUnread = nil
        if case .count? = disk { disk = .count(isStale: true) }
    }

    // MARK: Answers

    mutating func itemsRead(_ rows: [Row], _ hasMore: Bool, _ scanned: Int) {
        guard case .items(let isAnew, let isStale)? = disk else { return }
        disk = nil
        rowsScanned += scanned
        if isStale { return }
        if isAnew {
            mustReadAnew = false
            window = FeedWindow(size: window.size)
        }
        window.append(rows, hasMore: hasMore, marks)
        hasRead = true
        isChanged = true
    }

    mutating func changesRead(_ changes: [DocumentPath: Row?]) {
        guard case .changes? = disk else { return }
        disk = nil
        #if TIDEMARK_DEFECTS
            let changes = withDefects(changes)
        #endif
        window.apply(changes, marks)
        mustReadBelow = window.hasMore
        forgetCount()
        isChanged = true
    }

    #if TIDEMARK_DEFECTS
        private func withDefects(_ changes: [DocumentPath: Row?]) -> [DocumentPath: Row?] {
            var changes = changes
            if settings.rules.defects.contains(.deletedRowsStay) {
                changes = changes.filter { $0.value != nil }
            }
            if settings.rules.defects.contains(.liveRowDropped), live.listen != nil,
                let last = changes.keys.max()
            {
                changes.removeValue(forKey: last)
            }
            return changes
        }
    #endif

    mutating func outgrown() {
        guard case .changes? = disk else { return }
        disk = nil
        readAnew()
    }

    mutating func unreadCounted(_ count: Int) {
        guard case .count(let isStale)? = disk else { return }
        disk = nil
        if isStale { return }
        countedUnread = count
        isChanged = true
    }

    // MARK: What comes next

    /// Whether a call waits for the disk.
    private var isWanted: Bool {
        !waiting.isEmpty || sync != nil || !movesBeforeOpening.isEmpty
            || (live.isWanted && !live.isWaiting)
    }

    private var lacksRows: Bool { mustReadBelow || !window.isFull }

    /// Whether everything that the disk knows is shown.
    var isSettled: Bool {
        opening == .open && disk == nil && !mustReadChanges && !mustReadAnew && !lacksRows
            && (window.unreadCount ?? countedUnread) != nil
    }

    /// Gives the disk something to do, and the sync what waited for the records.
    mutating func advance(_ effects: inout [Effect]) {
        guard isWanted else { return }
        if opening == .closed {
            opening = .loading
            effects.append(.load)
        }
        guard opening == .open else { return }
        startSync(&effects)
        guard disk == nil else { return }
        if mustReadAnew || (lacksRows && !mustReadChanges) {
            readItems(&effects)
        } else if mustReadChanges {
            readChanges(&effects)
        } else if window.unreadCount == nil, countedUnread == nil {
            disk = .count(isStale: false)
            effects.append(.countUnread(above: marks.floor))
        }
    }

    private mutating func readItems(_ effects: inout [Effect]) {
        disk = .items(isAnew: mustReadAnew, isStale: false)
        mustReadBelow = false
        let end = mustReadAnew ? nil : window.end
        let isWhole = end?.isUnsettled ?? true
        effects.append(
            .readItems(
                below: isWhole ? nil : end, count: isWhole ? window.size : window.room,
                action: marks.action))
    }

    private mutating func readChanges(_ effects: inout [Effect]) {
        let pending = window.rows.filter(\.hasPendingWrites).map(\.path)
        let paths = changed.union(pending)
        disk = .changes(changed)
        changed = []
        mustReadChanges = false
        effects.append(.readChanges(paths.sorted()))
    }

    /// A call that asks again begins with all of the window.
    mutating func diskFailed(_ error: FirestoreError, _ effects: inout [Effect]) {
        if case .changes(let paths)? = disk { changed.formUnion(paths) }
        disk = nil
        mustReadAnew = true
        if opening == .loading { opening = .closed }
        let moves = movesBeforeOpening.map(\.call)
        movesBeforeOpening = []
        for call in waiting.map(\.call) + moves { effects.append(.finish(call, .failed(error))) }
        waiting = []
        endSync(.failed(error), &effects)
        waitToTryAgain(&effects)
    }

    // MARK: What is shown

    /// Takes the window over into what is shown. The number of unread ones, where only the disk can
    /// tell it, stays, or is that of the window.
    mutating func show(_ now: DeviceTime, _ effects: inout [Effect]) {
        guard isChanged else { return }
        // Rows that are on their way from the disk come first: fresh is said of all of them.
        if isFresh, failure == nil, isReadingRows { return }
        isChanged = false
        shown.rows = window.rows
        shown.hasMore = window.hasMore
        shown.unreadCount =
            window.unreadCount ?? countedUnread
            ?? max(shown.unreadCount, window.rows.count(where: \.isUnread))
        shown.phase = phase(now)
        effects.append(.publish)
    }

    /// Whether the disk will answer, and rows with it.
    private var isReadingRows: Bool {
        switch disk {
        case nil: false
        case .items, .changes: true
        case .count: mustReadChanges || mustReadAnew || lacksRows
        }
    }

    private func phase(_ now: DeviceTime) -> FeedPhase {
        if let failure { return .failed(failure) }
        if !hasRead { return .loading }
        guard let readTime else { return .stale(age: nil) }
        if isFresh, !mustReadChanges, !mustReadAnew, !lacksRows {
            return .fresh(readTime: readTime)
        }
        return .stale(age: max(.zero, serverNow(now).duration(since: readTime)))
    }

    /// For ages: before an answer of this launch, only the device's wall clock could tell them.
    func serverNow(_ now: DeviceTime) -> Timestamp { serverTime.estimate(at: now) ?? now.wall }

    /// Ends the calls whose wishes are fulfilled.
    mutating func end(_ effects: inout [Effect]) {
        guard isSettled else { return }
        for call in waiting where !call.isSaving {
            effects.append(.finish(call.call, call.outcome))
        }
        waiting.removeAll { !$0.isSaving }
    }
}
