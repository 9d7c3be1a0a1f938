package import Tidemark

/// Makes all decisions of a feed: the reads from disk and from the server, the progress, and the
/// shown rows. Pure: requests and answers go in, and reads and writes come out.
///
/// Three parts run side by side, each one step at a time: the *disk* (``FeedDisk``: rows that the
/// window lacks, changed documents, the number of unread rows), the *sync* (pages from the server),
/// and the storing of marks. The progress of a sync moves forward only after it is stored. A call
/// ends only after its result is shown.
package struct FeedMachine<Content: Hashable & Sendable>: Hashable, Sendable {
    package typealias Row = FeedRow<Content>
    /// Identifies a call of the app, which gets exactly one outcome.
    package typealias CallID = Int

    package enum Event: Sendable {
        // The calls of the app.
        case open(CallID)
        /// Opens like `open`, but ends when the rows of the window are shown. Unread items below
        /// the window can still be counted.
        case openWindow(CallID)
        /// - Precondition: The count is positive.
        case loadMore(Int, CallID)
        case sync(CallID)
        /// Starts listening and syncs the feed; ends when the feed is up to date.
        case comeLive(CallID)
        /// Syncs like `sync`, but ends after this number of reads.
        case syncWithin(reads: Int, CallID)
        case move(Marks.Name, to: MarkTarget, CallID)
        /// Starts or stops listening.
        case live(Bool)

        // The results of effects.
        case loaded(Marks, FeedProgress)
        case indexesDeclared
        /// - Parameter stored: The documents that look different now.
        case fetched(FeedPage, stored: [DocumentPath])
        case compared(FeedComparison)
        case changesCounted(CountedChanges, readTime: Timestamp)
        case progressSaved
        /// The marks of the user's other devices.
        case sharedRead(SharedMarks, readTime: Timestamp)
        case listenerOverdue(Int, FirestoreError)
        case heard(FeedHeard)
        case listenFailed(Int, FirestoreError)
        case waited
        /// Documents look different because of this device's writes.
        case written
        case itemsRead([Row], hasMore: Bool, rowsScanned: Int)
        /// The rows by path; nil for a document that is not an item of the feed.
        case changesRead([DocumentPath: Row?])
        /// Reported instead of `changesRead`: others have changed more documents than were
        /// recorded.
        case outgrown
        case counted(Int)
        case marksSaved(CallID?)
        case failed(Work, FirestoreError)
    }

    package enum Effect: Hashable, Sendable {
        /// Reads the feed's records. The answer is `loaded`.
        case load
        /// Creates the indexes for reads from the disk. The answer is `indexesDeclared`.
        case declareIndexes
        /// Reads a page from the server, and stores it with the new progress in one transaction.
        /// The answer is `fetched`.
        case fetch(FeedFetch)
        /// Compares the held items of a range with the server's figures. The server is asked unless
        /// the figures are known. The answer is `compared`.
        case compare(
            Range<CoveragePosition>, expected: FeedAudit.Figures?, at: Timestamp?)
        /// Counts the changes on the server from a change time on, up to a maximum. The answer is
        /// `changesCounted`.
        case countChanges(since: Timestamp, upTo: Int)
        /// Stores only the progress. The answer is `progressSaved`.
        case saveProgress(FeedProgress)
        /// Reads the marks of the user's other devices from the server. The answer is `sharedRead`.
        case readShared
        /// Waits for the first snapshot of a listener to the marks or to changes, which costs no
        /// second read. The number identifies the wait, for `unlisten`. The answer is `heard`, or
        /// `listenerOverdue` with the error that a read would have had.
        case awaitListener(Int)
        /// Sends the marks to the other devices, through the queue of writes. Answered only if it
        /// fails.
        case share(SharedMarks)
        /// Listens until `unlisten`. The answers are `heard`, and finally `listenFailed`.
        case listen(FeedListen)
        case unlisten(Int)
        /// Waits for this duration. The answer is `waited`.
        case wait(Duration)
        /// Reads rows from disk, below one position (or the newest) and from another position up.
        /// The answer is `itemsRead`.
        case readItems(below: PagePosition?, count: Int, from: CoveragePosition)
        /// Reads the present form of documents, of all documents with pending writes, and of all
        /// documents that others have changed. The answer is `changesRead` or `outgrown`.
        case readChanges([DocumentPath])
        /// Counts the items on disk from a position up. The answer is `counted`.
        case count(from: CoveragePosition)
        /// Stores the marks, in the order of the effects. The answer is `marksSaved`.
        case save(Marks, CallID?)
        /// The shown state has changed.
        case publish
        case notify(FeedEvent)
        /// Ends a call.
        case finish(CallID, Outcome)
    }

    /// An effect that can fail.
    package enum Work: Hashable, Sendable {
        case load, indexes, page, changeCount, items, changes, count, share
        case marks(CallID?)
    }

    package enum MarkTarget: Hashable, Sendable {
        case time(Timestamp)
        case milliseconds(Int64)
        /// The newest shown item; nothing moves if there is none.
        case newest
    }

    package enum Outcome: Hashable, Sendable {
        case opened
        case synced(FeedSync)
        case moved(Marks.Move?)
        case failed(FirestoreError)
    }

    /// The shown state.
    package struct Shown: Hashable, Sendable {
        package var rows: [Row] = []
        package var hasMore = false
        package var unreadCount = 0
        package var phase = FeedPhase.loading
    }

    /// A call that ends when the disk has no more work for it.
    struct Waiting: Hashable {
        let call: CallID
        let outcome: Outcome
        /// True while the call's mark is being stored.
        var isSaving = false
        /// True if items that the disk lacks are read from the server.
        var wantsOlder = false
        /// True if the call ends when the window shows its rows.
        var isWindowEnough = false
    }

    /// The maximum number of pages of one sync. If more remain, the next sync continues.
    package static var maxPages: Int { 10_000 }

    package let settings: FeedSettings
    package internal(set) var marks = Marks()
    package internal(set) var progress: FeedProgress
    package internal(set) var shown = Shown()
    package internal(set) var counters = FeedCounters()
    var disk: FeedDisk<Content>
    var serverTime = ServerTime()
    /// The state of the feed's records.
    var opening = Opening.closed
    var hasIndexes = false
    var sync: SyncRun?
    var live = LiveRun()
    var waiting: [Waiting] = []
    /// True if valid marks could not be stored. The next sync tries again.
    var mustSaveMarks = false
    /// True if the progress must be stored when the page that is loading has arrived.
    var mustSaveProgress = false
    var movesBeforeOpening: [Move] = []
    /// The reason why the last sync or listener failed; nil after a success.
    var failure: FirestoreError?
    /// True if a sync or a listener has confirmed the feed, and the connection has not been lost
    /// since.
    var isFresh = false
    /// True if ``shown`` must be updated.
    var isChanged = false
    /// The time on the device's clock at the last event; nil before the first.
    var wall: Timestamp?
    /// The last count of changes; nil before the first.
    var counted: CountedChanges?

    enum Opening: Hashable { case closed, loading, open }

    struct Move: Hashable {
        let name: Marks.Name
        let target: MarkTarget
        let call: CallID
    }

    package init(_ settings: FeedSettings) {
        self.settings = settings
        progress = FeedProgress(overlap: settings.rules.overlap)
        disk = FeedDisk(size: settings.window)
    }

    /// The number of documents and index entries examined to fill the window, since the start.
    package var rowsScanned: Int { disk.rowsScanned }

    /// Returns the first request of the next sync. Sends nothing.
    ///
    /// - Parameter now: The device's clocks.
    package func plan(at now: DeviceTime) -> ReadPlan {
        var machine = self
        machine.wall = now.wall
        return ReadPlanner.next(
            progress, reach: machine.known(SyncReach()), action: marks.action, rules: settings.rules
        ) ?? .nothing
    }

    /// The time as of which everything above the clear mark is held; nil if something is missing.
    var readTime: Timestamp? { progress.readTime(above: marks.action, settings.rules) }

    /// - Parameter now: The device's clocks, which measure the time since the server's last answer.
    package mutating func step(_ event: Event, now: DeviceTime) -> [Effect] {
        var effects: [Effect] = []
        wall = now.wall
        switch event {
        case .open(let call): open(call)
        case .openWindow(let call): open(call, isWindowEnough: true)
        case .loadMore(let count, let call): loadMore(count, call)
        case .sync(let call): beginSync(call, maxReads: nil)
        case .comeLive(let call): comeLive(call, now: now, effects: &effects)
        case .syncWithin(let reads, let call): beginSync(call, maxReads: reads)
        case .move(let name, let target, let call):
            move(Move(name: name, target: target, call: call), now: now, effects: &effects)
        case .loaded(let marks, let progress):
            loaded(marks, progress: progress, now: now, effects: &effects)
        case .live(let isWanted): live(isWanted, &effects)
        case .heard(let heard): self.heard(heard, now: now, effects: &effects)
        case .listenFailed(let number, let error):
            listenFailed(number, error: error, effects: &effects)
        case .waited: live.isWaiting = false
        case .written: written()
        case .indexesDeclared: indexesDeclared(&effects)
        case .fetched(let page, let stored):
            fetched(page, stored: stored, now: now, effects: &effects)
        case .compared(let comparison): compared(comparison, now: now, effects: &effects)
        case .changesCounted(let count, let readTime):
            changesCounted(count, at: readTime, now: now, effects: &effects)
        case .progressSaved: progressSaved(&effects)
        case .sharedRead(let marks, let readTime):
            sharedRead(marks, readTime: readTime, now: now, effects: &effects)
        case .listenerOverdue(let number, let error):
            listenerOverdue(number, error: error, effects: &effects)
        case .itemsRead(let rows, let hasMore, let scanned):
            if disk.itemsRead(rows, hasMore: hasMore, scanned: scanned, marks: marks) {
                isChanged = true
            }
        case .changesRead(let changes): changesRead(changes)
        case .outgrown: disk.outgrown()
        case .counted(let count): if disk.counted(count) { isChanged = true }
        case .marksSaved(let call): saved(call)
        case .failed(let work, let error): failed(work, error: error, effects: &effects)
        }
        if opening == .open, isBounded {
            disk.move(base: progress.base(above: marks.action, settings.rules))
        }
        advance(&effects)
        advanceLive(now, &effects)
        advance(&effects)
        if mustSaveProgress { saveProgress(&effects) }
        if isSettled { live.mustShowOwn = false }
        show(now, &effects)
        end(&effects)
        return effects
    }
}

/// The settings of a feed's machine.
package struct FeedSettings: Hashable, Sendable {
    package var rules: FeedRules
    /// The number of rows shown at first, at least 1.
    package var window: Int
    /// True if the user's devices share the clear mark.
    package var sharesMarks: Bool
    /// True if the user's devices share the consumption mark too.
    package var sharesConsumption: Bool

    package init(
        rules: FeedRules, window: Int = 50, sharesMarks: Bool = false,
        sharesConsumption: Bool = false
    ) {
        precondition(window > 0)
        self.rules = rules
        self.window = window
        self.sharesMarks = sharesMarks
        self.sharesConsumption = sharesConsumption
    }
}

// MARK: - What is shown, and what the disk has to do

extension FeedMachine {
    private var isBounded: Bool { settings.rules.limit != nil }

    /// The number of items to hold, including those to which the user has scrolled; nil unless the
    /// feed is bounded and the server has older items.
    var target: Int? {
        guard let limit = settings.rules.limit,
            progress.tail(above: marks.action, settings.rules) != nil
        else { return nil }
        return max(limit, disk.window.size)
    }

    /// True if fewer items are held, as far as the disk is known.
    var isShort: Bool {
        guard let target, let held = disk.held(of: target) else { return false }
        return held < target
    }

    private mutating func open(_ call: CallID, isWindowEnough: Bool = false) {
        waiting.append(
            Waiting(call: call, outcome: .opened, isWindowEnough: isWindowEnough))
        failure = nil
        disk.readAnew()
    }

    private mutating func loadMore(_ count: Int, _ call: CallID) {
        precondition(count > 0)
        waiting.append(Waiting(call: call, outcome: .opened, wantsOlder: isBounded))
        disk.grow(by: count)
    }

    private mutating func loaded(
        _ marks: Marks, progress: FeedProgress, now: DeviceTime, effects: inout [Effect]
    ) {
        precondition(opening == .loading)
        opening = .open
        self.marks.merge(marks)
        self.progress = progress
        if let action = self.marks.action { self.progress.cut(action: action) }
        let moves = movesBeforeOpening
        movesBeforeOpening = []
        for move in moves { self.move(move, now: now, effects: &effects) }
    }

    /// Stores the progress. A page that is loading is stored with its own progress, so the present
    /// progress waits for the page: it would replace the page's.
    mutating func saveProgress(_ effects: inout [Effect]) {
        mustSaveProgress = sync?.stage == .page
        if !mustSaveProgress { effects.append(.saveProgress(progress)) }
    }

    private mutating func changesRead(_ changes: [DocumentPath: Row?]) {
        var changes = changes
        #if TIDEMARK_DEFECTS
            if settings.rules.defects.contains(.deletedRowsStay) {
                changes = changes.filter { $0.value != nil }
            }
            if settings.rules.defects.contains(.liveRowDropped), live.listen != nil,
                let last = changes.keys.max()
            {
                changes.removeValue(forKey: last)
            }
        #endif
        if disk.changesRead(changes, marks) { isChanged = true }
    }

    /// True if the window shows everything that the disk has.
    var isSettled: Bool { opening == .open && disk.isSettled(target) }

    /// True if a call waits for the disk.
    private var isWanted: Bool {
        !waiting.isEmpty || sync != nil || !movesBeforeOpening.isEmpty
            || (live.isWanted && (!live.isWaiting || live.mustShowOwn))
    }

    /// Gives work to the disk, and to the sync if it waited for the records.
    private mutating func advance(_ effects: inout [Effect]) {
        guard isWanted else { return }
        if opening == .closed {
            opening = .loading
            effects.append(.load)
        }
        guard opening == .open else { return }
        beginOlder()
        startSync(&effects)
        if let effect = disk.next(marks, target) { effects.append(effect) }
    }

    mutating func diskFailed(
        _ error: FirestoreError, isCount: Bool, _ effects: inout [Effect]
    ) {
        live.mustShowOwn = false
        disk.failed(isCount: isCount)
        if opening == .loading { opening = .closed }
        let moves = movesBeforeOpening.map(\.call)
        movesBeforeOpening = []
        for call in waiting.map(\.call) + moves { effects.append(.finish(call, .failed(error))) }
        waiting = []
        endSync(.failed(error), &effects)
        waitToTryAgain(&effects)
    }

    /// Copies the window to the shown state. If only the disk knows the number of unread rows and
    /// has not counted them, the number stays or becomes that of the window.
    private mutating func show(_ now: DeviceTime, _ effects: inout [Effect]) {
        guard isChanged else { return }
        // Rows that are being read from disk come first, because *fresh* applies to all rows.
        if isFresh, failure == nil, disk.isReadingRows { return }
        isChanged = false
        let window = disk.window
        shown.rows = window.rows
        shown.hasMore = window.hasMore || target != nil
        shown.unreadCount =
            disk.unreadCount ?? max(shown.unreadCount, window.rows.count(where: \.isUnread))
        shown.phase = phase(now)
        effects.append(.publish)
    }

    private func phase(_ now: DeviceTime) -> FeedPhase {
        if let failure { return .failed(failure) }
        if !disk.hasRead { return .loading }
        guard let readTime else { return .stale(age: nil) }
        if isFresh, !disk.hasWork, holdsLimit { return .fresh(readTime: readTime) }
        return .stale(age: max(.zero, serverNow(now).duration(since: readTime)))
    }

    /// True if a bounded feed holds as many of the newest items as its limit, or all existing
    /// items.
    private var holdsLimit: Bool {
        guard let target, let limit = settings.rules.limit else { return true }
        return disk.held(of: target).map { $0 >= limit } ?? false
    }

    /// Returns the server's time, for ages. Before the first answer of this launch, only the
    /// device's clock is known.
    func serverNow(_ now: DeviceTime) -> Timestamp { serverTime.estimate(at: now) ?? now.wall }

    /// Ends the calls that are done.
    private mutating func end(_ effects: inout [Effect]) {
        let (isSettled, showsWindow) = (isSettled, opening == .open && disk.showsWindow)
        guard isSettled || showsWindow else { return }
        let isShort = isShort
        let isDone = { (call: Waiting) in
            (isSettled || call.isWindowEnough) && !call.isSaving && !(call.wantsOlder && isShort)
        }
        for call in waiting where isDone(call) {
            effects.append(.finish(call.call, call.outcome))
        }
        waiting.removeAll(where: isDone)
    }
}
