package import Tidemark

/// All that a feed decides: what is read from disk and from the server, what moves forward and when,
/// and what is shown. Pure: what was asked for and what was answered go in, reads and writes to be
/// made come out.
///
/// Three things go on side by side, each one step at a time: the *disk* (what the window lacks, what
/// became of changed documents, the number of unread ones), the *sync* (pages from the server), and
/// the marks that are being stored. Nothing of a sync moves forward unless it is stored, and a call
/// has ended only when what it asked for is shown.
package struct FeedMachine<Content: Hashable & Sendable>: Hashable, Sendable {
    package typealias Row = FeedRow<Content>
    /// Names a call of the app, to which one outcome is owed.
    package typealias CallID = Int

    package enum Event: Sendable {
        // What the app asks for.
        case open(CallID)
        /// - Precondition: The count is positive.
        case loadMore(Int, CallID)
        case sync(CallID)
        case move(Marks.Name, to: MarkTarget, CallID)
        /// To be kept up to date by listening, or no more.
        case live(Bool)

        // What became of effects.
        case loaded(Marks, FeedProgress)
        case indexesDeclared
        /// - Parameter stored: The documents that look different now.
        case fetched(FeedPage, stored: [DocumentPath])
        case compared(FeedComparison)
        case progressSaved
        /// Where the user's other devices have cleared; nil for nowhere.
        case sharedRead(Timestamp?, readTime: Timestamp)
        case heard(FeedHeard)
        case listenFailed(Int, FirestoreError)
        case waited
        case itemsRead([Row], hasMore: Bool, rowsScanned: Int)
        /// By path; nil for one that is no item of the feed.
        case changesRead([DocumentPath: Row?])
        /// In its place: others have changed more than anybody remembers.
        case outgrown
        case unreadCounted(Int)
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
        /// Stores the progress alone: answered by `progressSaved`.
        case saveProgress(FeedProgress)
        /// Reads from the server where the user's other devices have cleared: answered by
        /// `sharedRead`.
        case readShared
        /// Tells them, through the queue of writes; answered only where it fails.
        case share(Timestamp)
        /// Listens until it is told otherwise: answered by `heard`, in the end by `listenFailed`.
        case listen(FeedListen)
        case unlisten(Int)
        /// Answered by `waited`, that much later.
        case wait(Duration)
        /// Reads rows from disk below a position, or the newest: answered by `itemsRead`.
        case readItems(below: PagePosition?, count: Int, action: Timestamp?)
        /// Reads how documents look now, and with them all that have pending writes or were changed by
        /// others: answered by `changesRead` or `outgrown`.
        case readChanges([DocumentPath])
        /// Counts on disk what is above a mark: answered by `unreadCounted`.
        case countUnread(above: Timestamp?)
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
        case load, indexes, page, items, changes, count, share
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
    }

    /// Pages that one sync asks for at the most. A feed with more behind goes on at the next sync.
    package static var maxPages: Int { 10_000 }

    package let settings: FeedSettings
    package internal(set) var marks = Marks()
    package internal(set) var progress: FeedProgress
    package internal(set) var shown = Shown()
    /// Documents and index entries looked at to fill the window, since the start.
    package internal(set) var rowsScanned = 0
    package internal(set) var counters = FeedCounters()
    var window: FeedWindow<Content>
    var serverTime = ServerTime()
    /// Whether the records have been read, or are being read.
    var opening = Opening.closed
    var hasIndexes = false
    /// What the disk is doing.
    var disk: DiskWork?
    /// Documents whose change the window does not show yet.
    var changed: Set<DocumentPath> = []
    var mustReadChanges = false
    /// Whether all of the window is to be read.
    var mustReadAnew = true
    /// Whether what lies below the window may be gone.
    var mustReadBelow = false
    /// Nil where it is not known, or no longer true.
    var countedUnread: Int?
    var sync: SyncRun?
    var live = LiveRun()
    var waiting: [Waiting] = []
    /// Whether marks that count already could not be stored: the next sync tries it again.
    var mustSaveMarks = false
    var movesBeforeOpening: [Move] = []
    /// Why the last sync failed.
    var failure: FirestoreError?
    /// Whether the window has been read since the start.
    var hasRead = false
    /// Whether a sync has ended well since the start.
    var isFresh = false
    /// Whether ``shown`` is to be made anew.
    var isChanged = false

    enum Opening: Hashable { case closed, loading, open }

    struct Move: Hashable {
        let name: Marks.Name
        let target: MarkTarget
        let call: CallID
    }

    package init(_ settings: FeedSettings) {
        self.settings = settings
        progress = FeedProgress(overlap: settings.rules.overlap)
        window = FeedWindow(size: settings.window)
    }

    /// What the next sync would ask first. Asks nothing.
    package var plan: ReadPlan {
        ReadPlanner.next(progress, SyncReach(), action: marks.action, settings.rules)
            ?? .nothing
    }

    /// As of when everything above the clear mark is held; nil when something is missing.
    var readTime: Timestamp? { progress.readTime(above: marks.action, settings.rules) }

    /// - Parameter now: The device's clocks: they measure how long ago the server last told its own.
    package mutating func step(_ event: Event, now: DeviceTime) -> [Effect] {
        var effects: [Effect] = []
        switch event {
        case .open(let call): open(call)
        case .loadMore(let count, let call): loadMore(count, call)
        case .sync(let call): beginSync(call)
        case .move(let name, let target, let call):
            move(Move(name: name, target: target, call: call), now, &effects)
        case .loaded(let marks, let progress): loaded(marks, progress, now, &effects)
        case .live(let isWanted): live(isWanted, &effects)
        case .heard(let heard): self.heard(heard, now, &effects)
        case .listenFailed(let number, let error): listenFailed(number, error, &effects)
        case .waited: live.isWaiting = false
        case .indexesDeclared: indexesDeclared(&effects)
        case .fetched(let page, let stored): fetched(page, stored, now, &effects)
        case .compared(let comparison): compared(comparison, now, &effects)
        case .progressSaved: progressSaved(&effects)
        case .sharedRead(let mark, let readTime): sharedRead(mark, readTime, now, &effects)
        case .itemsRead(let rows, let hasMore, let scanned): itemsRead(rows, hasMore, scanned)
        case .changesRead(let changes): changesRead(changes)
        case .outgrown: outgrown()
        case .unreadCounted(let count): unreadCounted(count)
        case .marksSaved(let call): saved(call)
        case .failed(let work, let error): failed(work, error, &effects)
        }
        advance(&effects)
        advanceLive(now, &effects)
        advance(&effects)
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

    package init(rules: FeedRules, window: Int = 50, sharesMarks: Bool = false) {
        precondition(window > 0)
        self.rules = rules
        self.window = window
        self.sharesMarks = sharesMarks
    }
}
