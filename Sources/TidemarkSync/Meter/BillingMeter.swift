import TidemarkModel

/// Counts the billed reads by purpose, and asks the budgets about the next read.
final class BillingMeter {
    private let context: EngineContext
    private let storage: CacheStorage
    private var clock = ServerClock()
    private var gate: BudgetGate
    private var observers: [UInt64: @Sendable (ReadEvent) -> Void] = [:]

    /// The minimum time between two saves. Reads are stored together with other content.
    private static let shortestPauseOfSaving = Duration.seconds(1)
    /// The maximum time until a save if no other content is stored. A kill loses at most this much.
    private static let longestPauseOfSaving = Duration.seconds(10)

    init(_ context: EngineContext, _ storage: CacheStorage) {
        self.context = context
        self.storage = storage
        gate = BudgetGate(context.configuration.readBudgets)
    }

    // MARK: The server's time

    /// The server's time as far as it is known; the device's time before the first answer.
    var serverNow: Timestamp {
        clock.now(elapsed: context.elapsed, device: context.environment.now)
    }

    var knowsServerTime: Bool { clock.isKnown }

    /// - Parameter time: The server's time in an answer that has just arrived.
    func heardServerTime(_ time: Timestamp?) { clock.heard(time, elapsed: context.elapsed) }

    // MARK: Counting

    func record(_ bill: ReadBilling.Bill, _ tag: ReadTag) {
        heardServerTime(bill.time)
        guard bill.reads > 0 || bill.isLowerBound else { return }
        record(
            ReadCount(reads: bill.reads, lowerBounds: bill.isLowerBound ? 1 : 0), tag.or(.get),
            at: bill.time)
    }

    func record(_ count: ReadCount, _ tag: ReadTag, at time: Timestamp?) {
        let day = BillingDay(time.map { $0 > .epoch ? $0 : serverNow } ?? serverNow)
        load(day)
        let local = storage.local
        let name = local.book.ledger.add(
            ReadRow.Name(
                day: day, label: name(of: tag), screen: tag.screen ?? "", cause: tag.cause ?? .get),
            count)
        if !observers.isEmpty { notify(.billed(ReadRow(name, count))) }
        let elapsed = context.elapsed
        // A budget that can stop reads does not lose counts by a kill.
        local.book.savesReads =
            isStrict(tag)
            || (local.book.ledger.savedAt.map { elapsed - $0 >= Self.shortestPauseOfSaving } ?? true)
        if !context.isScheduled(.meterSave) {
            context.schedule(.meterSave, after: Self.longestPauseOfSaving)
        }
        notifyBudgets(on: day)
    }

    private func notifyBudgets(on day: BillingDay) {
        for notice in gate.reached(on: day, spent: { spent($0, on: day) }) {
            notify(
                notice.percent == 100
                    ? .budgetSpent(notice.budget, on: day)
                    : .budgetReached(notice.budget, percent: notice.percent, on: day))
        }
    }

    private func name(of tag: ReadTag) -> String { tag.label ?? context.configuration.label ?? "" }

    /// Loads the rows of a day. If the disk cannot be read, the day starts empty, because a budget
    /// is not worth a failure.
    private func load(_ day: BillingDay) {
        let local = storage.local
        if local.book.ledger.knows(day) { return }
        local.book.ledger.load((try? local.storedReads(of: day)) ?? [], of: day)
        local.book.reservations.load((try? local.storedReservations(of: day)) ?? [:], of: day)
        // An earlier process has reported the shares that it reached.
        if spent(.all, on: day) > 0 { _ = gate.reached(on: day) { spent($0, on: day) } }
    }

    func save() {
        guard storage.local.book.hasUnsaved else { return }
        storage.local.book.savesReads = true
        // The reads stay counted, and are stored later.
        do { try storage.local.write(.saveReads) { _ in } } catch {
            context.schedule(.meterSave, after: Self.longestPauseOfSaving)
        }
    }

    func report(days: Int) throws -> ReadReport {
        let first = BillingDay(serverNow).advanced(by: 1 - max(1, days))
        return try storage.local.readReport(since: first)
    }

    /// True if reads that the cache answers are counted too.
    var countsCached = false

    /// Counts a read that the cache answers, if this is wanted.
    func countCached() {
        guard countsCached else { return }
        storage.local.book.countCached(on: BillingDay(serverNow))
        if !context.isScheduled(.meterSave) {
            context.schedule(.meterSave, after: Self.longestPauseOfSaving)
        }
    }

    /// Returns the reads of the last days, those that the cache answered, and today's date.
    func book(days: Int) throws -> ReadBookDays {
        let today = BillingDay(serverNow)
        let first = today.advanced(by: 1 - max(1, days))
        return ReadBookDays(
            today: today, report: try storage.local.readReport(since: first),
            cached: try storage.local.cachedReads(since: first))
    }

    // MARK: Observers

    var isObserved: Bool { !observers.isEmpty }
    func notify(_ event: ReadEvent) {
        for id in observers.keys.sorted() { observers[id]?(event) }
    }

    func observe(_ id: UInt64, _ observer: @escaping @Sendable (ReadEvent) -> Void) {
        if context.gate.isRunning { observers[id] = observer }
    }

    func removeObserver(_ id: UInt64) { observers[id] = nil }
    func removeObservers() { observers = [:] }

    // MARK: Budgets

    private func spent(_ scope: ReadBudget.Scope, on day: BillingDay) -> Int {
        storage.local.book.ledger.reads(on: day) {
            scope.contains(label: $0.label, screen: $0.screen)
        }
    }

    /// Returns the budgets' verdict on a read before it is requested.
    ///
    /// - Parameter isOpenCounted: False for a listener, which would be held until the day ends:
    ///   requests under way do not stop it.
    func verdict(on tag: ReadTag, isOpenCounted: Bool = true) -> BudgetGate.Verdict {
        if gate.budgets.isEmpty { return .allowed }
        let day = BillingDay(serverNow)
        load(day)
        return gate.verdict(label: name(of: tag), screen: tag.screen ?? "") {
            spent($0, on: day) + reserved($0, on: day, isOpenCounted: isOpenCounted)
        }
    }

    private func reserved(
        _ scope: ReadBudget.Scope, on day: BillingDay, isOpenCounted: Bool = true
    ) -> Int {
        storage.local.book.reservations.reads(on: day, isOpenCounted: isOpenCounted) {
            scope.contains(label: $0.label, screen: $0.screen)
        }
    }

    /// The state of each budget today.
    var states: [ReadBudgetState] {
        let day = BillingDay(serverNow)
        load(day)
        return gate.budgets.map { budget in
            ReadBudgetState(
                budget, on: day, spent: spent(budget.scope, on: day),
                reserved: budget.action == .warn ? 0 : reserved(budget.scope, on: day))
        }
    }

    // MARK: Reservations

    /// A reservation in the book of the cache in which it was made.
    struct Reservation {
        fileprivate let held: ReadReservations.Held
        fileprivate weak var book: ReadBook?
    }

    private func isStrict(_ tag: ReadTag) -> Bool {
        gate.isStrict(label: name(of: tag), screen: tag.screen ?? "")
    }

    /// Reserves the reads of a request before it is sent, on disk. If the disk fails, the request
    /// is sent all the same.
    ///
    /// - Returns: The reservation; nil if no budget can stop such reads.
    func reserve(_ reads: Int, _ tag: ReadTag) -> Reservation? {
        guard reads > 0, isStrict(tag) else { return nil }
        let day = BillingDay(serverNow)
        load(day)
        let book = storage.local.book
        let held = book.reservations.reserve(
            reads, .init(day: day, label: name(of: tag), screen: tag.screen ?? ""))
        save()
        return Reservation(held: held, book: book)
    }

    /// Releases a reservation. Call this before the bill is recorded, so that both are stored
    /// together.
    func release(_ reservation: Reservation?) {
        guard let reservation, let book = reservation.book else { return }
        book.reservations.release(reservation.held)
        if !context.isScheduled(.meterSave) {
            context.schedule(.meterSave, after: Self.longestPauseOfSaving)
        }
    }

    /// Returns the error for a request that only the server can answer; nil if the budgets allow
    /// it.
    func refusal(of tag: ReadTag) -> SyncError? {
        verdict(on: tag).budget.map { .overBudget($0) }
    }

    var stopsListeners: Bool { !gate.budgets.allSatisfy { $0.action == .warn } }
    func setBudgets(_ budgets: [ReadBudget]) { gate.budgets = budgets }
}
