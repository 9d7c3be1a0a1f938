package import Tidemark

/// All that a feed decides: what is read from disk and from the server, what moves forward and when,
/// and what is shown. Pure: what was asked for and what was answered go in, reads and writes to be
/// made come out.
///
/// Three things go on side by side, each one step at a time: the *disk* (``FeedDisk``: what the window
/// lacks, what became of changed documents, the number of unread ones), the *sync* (pages from the
/// server), and the marks that are being stored. Nothing of a sync moves forward unless it is stored, and a call
/// has ended only when what it asked for is shown.
package struct FeedMachine<Content: Hashable & Sendable>: Hashable, Sendable {
    package typealias Row = FeedRow<Content>
    /// Names a call of the app, to which one outcome is owed.
    package typealias CallID = Int

    package enum Event: Sendable {
        // What the app asks for.
        case open(CallID)
        /// As `open`, ended when the rows of the window are shown. Unread items below the window may
        /// still be counted.
        case openWindow(CallID)
        /// - Precondition: The count is positive.
        case loadMore(Int, CallID)
        case sync(CallID)
        /// To be kept up to date by listening from now on, and brought up to date: ended when it is.
        case comeLive(CallID)
        /// As `sync`, ended when it has cost so many reads.
        case syncWithin(reads: Int, CallID)
        case move(Marks.Name, to: MarkTarget, CallID)
        /// To be kept up to date by listening, or no more.
        case live(Bool)

        // What became of effects.
        case loaded(Marks, FeedProgress)
        case indexesDeclared
        /// - Parameter stored: The documents that look different now.
        case fetched(FeedPage, stored: [DocumentPath])
        case compared(FeedComparison)
        case changesCounted(CountedChanges, readTime: Timestamp)
        case progressSaved
        /// Where the marks of the user's other devices are.
        case sharedRead(SharedMarks, readTime: Timestamp)
        case listenerOverdue(Int, FirestoreError)
        case heard(FeedHeard)
        case listenFailed(Int, FirestoreError)
        case waited
        /// Documents look different because of what this device writes.
        case written
        case itemsRead([Row], hasMore: Bool, rowsScanned: Int)
        /// By path; nil for one that is no item of the feed.
        case changesRead([DocumentPath: Row?])
        /// In its place: others have changed more than anybody remembers.
        case outgrown
        case counted(Int)
        case marksSaved(CallID?)
        case failed(Work, FirestoreError)
    }

    package enum Effect: Hashable, Sendable {
        /// Reads the feed's records: answered by `loaded`.
        case load
        /// Makes the indexes by which the disk is read: answered by `indexesDeclared`.
        case declareIndexes
        /// Reads a page from the server, and stores it with the progress that it makes in one
        /// transaction: answered by `fetched`.
        case fetch(FeedFetch)
        /// Compares what is held of a range with the server's figures, which it is asked for unless
        /// they are known: answered by `compared`.
        case compare(
            Range<CoveragePosition>, expected: FeedAudit.Figures?, at: Timestamp?)
        /// Counts the changes on the server from a change time on, up to a maximum: answered by
        /// `changesCounted`.
        case countChanges(since: Timestamp, upTo: Int)
        /// Stores the progress alone: answered by `progressSaved`.
        case saveProgress(FeedProgress)
        /// Reads from the server where the marks of the user's other devices are: answered by
        /// `sharedRead`.
        case readShared
        /// Waits for the first word of a listener, of the marks or of changes, which costs no second read; the
        /// number names the wait, for `unlisten`. Answered by `heard`, or by `listenerOverdue` with what a read would have failed
        /// with.
        case awaitListener(Int)
        /// Tells them, through the queue of writes; answered only where it fails.
        case share(SharedMarks)
        /// Listens until it is told otherwise: answered by `heard`, in the end by `listenFailed`.
        case listen(FeedListen)
        case unlisten(Int)
        /// Answered by `waited`, that much later.
        case wait(Duration)
        /// Reads rows from disk below one position, or the newest, and from another one up: answered
        /// by `itemsRead`.
        case readItems(below: PagePosition?, count: Int, from: CoveragePosition)
        /// Reads how documents look now, and with them all that have pending writes or were changed by
        /// others: answered by `changesRead` or `outgrown`.
        case readChanges([DocumentPath])
        /// Counts on disk what is there from a position up: answered by `counted`.
        case count(from: CoveragePosition)
        /// Stores the marks; in the order of the effects. Answered by `marksSaved`.
        case save(Marks, CallID?)
        /// What is shown has changed.
        case publish
        case tell(FeedEvent)
        /// A call has ended.
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
        /// The newest item that is shown; nothing moves where there is none.
        case newest
    }

    package enum Outcome: Hashable, Sendable {
        case opened
        case synced(FeedSync)
        case moved(Marks.Move?)
        case failed(FirestoreError)
    }

    /// What it shows.
    package struct Shown: Hashable, Sendable {
        package var rows: [Row] = []
        package var hasMore = false
        package var unreadCount = 0
        package var phase = FeedPhase.loading
    }

    /// A call that ends when the disk has nothing to do for it.
    struct Waiting: Hashable {
        let call: CallID
        let outcome: Outcome
        /// Its mark is still being stored.
        var isSaving = false
        /// What the disk lacks for it is read from the server.
        var wantsOlder = false
        /// True if it ends when the window shows its rows.
        var isWindowEnough = false
    }

    /// Pages that one sync asks for at the most. A feed with more behind goes on at the next sync.
    package static var maxPages: Int { 10_000 }

    package let settings: FeedSettings
    package internal(set) var marks = Marks()
    package internal(set) var progress: FeedProgress
    package internal(set) var shown = Shown()
    package internal(set) var counters = FeedCounters()
    var disk: FeedDisk<Content>
    var serverTime = ServerTime()
    /// Whether the records have been read, or are being read.
    var opening = Opening.closed
    var hasIndexes = false
    var sync: SyncRun?
    var live = LiveRun()
    var waiting: [Waiting] = []
    /// Whether marks that count already could not be stored: the next sync tries it again.
    var mustSaveMarks = false
    var movesBeforeOpening: [Move] = []
    /// Why the last sync failed.
    var failure: FirestoreError?
    /// Whether a sync has ended well since the start.
    var isFresh = false
    /// Whether ``shown`` is to be made anew.
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

    /// Documents and index entries looked at to fill the window, since the start.
    package var rowsScanned: Int { disk.rowsScanned }

    /// What the next sync would ask first. Asks nothing.
    ///
    /// - Parameter now: The device's clocks.
    package func plan(at now: DeviceTime) -> ReadPlan {
        var machine = self
        machine.wall = now.wall
        return ReadPlanner.next(
            progress, machine.known(SyncReach()), action: marks.action, settings.rules) ?? .nothing
    }

    /// As of when everything above the clear mark is held; nil when something is missing.
    var readTime: Timestamp? { progress.readTime(above: marks.action, settings.rules) }

    /// - Parameter now: The device's clocks: they measure how long ago the server last told its own.
    package mutating func step(_ event: Event, now: DeviceTime) -> [Effect] {
        var effects: [Effect] = []
        wall = now.wall
        switch event {
        case .open(let call): open(call)
        case .openWindow(let call): open(call, isWindowEnough: true)
        case .loadMore(let count, let call): loadMore(count, call)
        case .sync(let call): beginSync(call, maxReads: nil)
        case .comeLive(let call): comeLive(call, now, &effects)
        case .syncWithin(let reads, let call): beginSync(call, maxReads: reads)
        case .move(let name, let target, let call):
            move(Move(name: name, target: target, call: call), now, &effects)
        case .loaded(let marks, let progress): loaded(marks, progress, now, &effects)
        case .live(let isWanted): live(isWanted, &effects)
        case .heard(let heard): self.heard(heard, now, &effects)
        case .listenFailed(let number, let error): listenFailed(number, error, &effects)
        case .waited: live.isWaiting = false
        case .written: written()
        case .indexesDeclared: indexesDeclared(&effects)
        case .fetched(let page, let stored): fetched(page, stored, now, &effects)
        case .compared(let comparison): compared(comparison, now, &effects)
        case .changesCounted(let count, let readTime):
            changesCounted(count, at: readTime, now, &effects)
        case .progressSaved: progressSaved(&effects)
        case .sharedRead(let marks, let readTime): sharedRead(marks, readTime, now, &effects)
        case .listenerOverdue(let number, let error): listenerOverdue(number, error, &effects)
        case .itemsRead(let rows, let hasMore, let scanned):
            if disk.itemsRead(rows, hasMore: hasMore, scanned, marks) { isChanged = true }
        case .changesRead(let changes): changesRead(changes)
        case .outgrown: disk.outgrown()
        case .counted(let count): if disk.counted(count) { isChanged = true }
        case .marksSaved(let call): saved(call)
        case .failed(let work, let error): failed(work, error, &effects)
        }
        if opening == .open, isBounded {
            disk.move(base: progress.base(above: marks.action, settings.rules))
        }
        advance(&effects)
        advanceLive(now, &effects)
        advance(&effects)
        if isSettled { live.mustShowOwn = false }
        show(now, &effects)
        end(&effects)
        return effects
    }
}

/// What a feed's machine goes by.
package struct FeedSettings: Hashable, Sendable {
    package var rules: FeedRules
    /// Rows shown at first, at least 1.
    package var window: Int
    /// Whether the clear mark is shared between the user's devices.
    package var sharesMarks: Bool
    /// Whether the consumption mark is, too.
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

    /// In a bounded feed with older items on the server: how many are to be held, those that somebody
    /// scrolled down to among them.
    var target: Int? {
        guard let limit = settings.rules.limit,
            progress.tail(above: marks.action, settings.rules) != nil
        else { return nil }
        return max(limit, disk.window.size)
    }

    /// Whether fewer are held, as far as the disk has told.
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

    /// Whether everything that the disk knows is shown.
    var isSettled: Bool { opening == .open && disk.isSettled(target) }

    /// Whether a call waits for the disk.
    private var isWanted: Bool {
        !waiting.isEmpty || sync != nil || !movesBeforeOpening.isEmpty
            || (live.isWanted && (!live.isWaiting || live.mustShowOwn))
    }

    /// Gives the disk something to do, and the sync what waited for the records.
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

    /// Takes the window over into what is shown. The number of unread ones, where only the disk can
    /// tell it, stays, or is that of the window.
    private mutating func show(_ now: DeviceTime, _ effects: inout [Effect]) {
        guard isChanged else { return }
        // Rows that are on their way from the disk come first: fresh is said of all of them.
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

    /// Whether a bounded feed holds as many of the newest items as it promises, or all there are.
    private var holdsLimit: Bool {
        guard let target, let limit = settings.rules.limit else { return true }
        return disk.held(of: target).map { $0 >= limit } ?? false
    }

    /// For ages: before an answer of this launch, only the device's wall clock could tell them.
    func serverNow(_ now: DeviceTime) -> Timestamp { serverTime.estimate(at: now) ?? now.wall }

    /// Ends the calls whose wishes are fulfilled.
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
