import TidemarkModel

/// Decides which event is delivered when.
///
/// - A function gets the events of a document in their order, one at a time. All functions get an
///   earlier change of a document before any of them gets a later one, unless a function fails or
///   cannot be reached: then only its own events wait.
/// - Events of different documents are delivered at the same time, up to ``maxPerTrigger`` for a
///   trigger and ``maxTotal`` for all.
/// - A failed event is tried ``DeliveryPolicy/maxAttempts`` times, and then set aside.
/// - A receiver that cannot be reached is asked again with a growing pause, without a limit: the
///   events are not at fault.
/// - A trigger whose key the receiver does not know is forgotten with its events. A key of an
///   earlier process gets some time, because a tool registers it again after the server's start.
struct DeliveryMachine: Equatable, Sendable {
    /// The maximum number of events under way.
    static let maxTotal = 48
    static let maxPerTrigger = 16
    /// The number of events of a document that are looked at. Those behind them wait.
    static let maxLook = 256

    /// The document of an event.
    struct DocumentKey: Hashable, Sendable {
        let database: DatabaseID
        let path: DocumentPath
    }

    struct Item: Equatable, Sendable {
        /// The row of the event. A later event has a greater number.
        let id: Int64
        let trigger: Int64
        let document: DocumentKey
        /// The time of the commit in microseconds, which identifies the commit in its database.
        let change: Int64
        /// The number of failed attempts.
        var attempts = 0
        /// The number of events before this one that seem to have caused each other.
        var depth = 0
    }

    enum Event: Equatable, Sendable {
        /// A key was registered, perhaps again.
        case registered(Int64)
        /// A trigger was removed, with its events.
        case removed(Int64)
        /// The events were stored, in the order of their ids.
        case recorded([Item])
        /// The attempt of this number has ended.
        case answered(Int, DeliveryAnswer)
        case timer(Int)
        case paused
        case resumed
        /// A caller waits until no event waits.
        case awaited(Int)
        /// The caller no longer waits.
        case abandoned(Int)
        /// The server has removed every event.
        case cleared
    }

    enum Effect: Equatable, Sendable {
        /// Begins the attempt of this number.
        case deliver(Int, Item)
        case finish(Item)
        case keepAttempts(Item, reason: String)
        case setAside(Item, reason: String)
        /// The receiver of a trigger could not be reached, for the first time in a row or again.
        case hold(Int64, reason: String, isFirst: Bool)
        /// Removes a trigger and all its events.
        case forget(Int64)
        case startTimer(Int, Duration)
        case idle([Int])
        /// An event is so deep in a chain that a function seems to trigger itself.
        case loop(Item)
    }

    private enum Phase: Equatable { case waiting, ready, underWay, pausing }

    private struct Entry: Equatable {
        var item: Item
        var phase = Phase.waiting
        /// True after the first failure: later events of other functions no longer wait for it.
        var hasFailed = false
    }

    private enum Wake: Equatable { case item(Int64), trigger(Int64) }

    let policy: DeliveryPolicy
    private(set) var isPaused = false
    private var entries: [Int64: Entry] = [:]
    /// The events of each document that are not delivered, in their order.
    private var queues: [DocumentKey: [Int64]] = [:]
    private var triggers: [Int64: TriggerLine] = [:]
    /// The attempts under way, by their number.
    private var attempts: [Int: Int64] = [:]
    private var timers: [Int: Wake] = [:]
    private var waiters: [Int] = []
    private var lastNumber = 0

    init(policy: DeliveryPolicy = DeliveryPolicy()) { self.policy = policy }

    // MARK: Facts

    /// The number of events that are not delivered.
    var waitingCount: Int { entries.count }
    var underWayCount: Int { attempts.count }

    func waitingCount(of trigger: Int64) -> Int { triggers[trigger]?.waiting ?? 0 }

    /// Returns true if the receiver of a trigger could not be reached, and is asked again later.
    func isHeld(_ trigger: Int64) -> Bool { triggers[trigger]?.isHeld ?? false }

    /// Returns the depth of an event of a document that is written now: one more than the event
    /// under way that seems to have caused the write, and 0 without one.
    ///
    /// An event of the same document is a likely cause, and so is the only event under way.
    func depth(of document: DocumentKey) -> Int {
        if attempts.isEmpty { return 0 }
        let own = (queues[document] ?? []).prefix(Self.maxLook).compactMap { entries[$0] }
            .filter { $0.phase == .underWay }.map(\.item.depth).max()
        if let own { return own + 1 }
        guard attempts.count == 1, let only = attempts.values.first else { return 0 }
        return (entries[only]?.item.depth ?? -1) + 1
    }

    // MARK: Steps

    mutating func step(_ event: Event) -> [Effect] {
        var effects: [Effect] = []
        switch event {
        case .registered(let trigger): confirm(trigger)
        case .removed(let trigger): remove(trigger)
        case .recorded(let items): for item in items { add(item, &effects) }
        case .answered(let number, let answer):
            // The event can have been removed meanwhile.
            if let id = attempts.removeValue(forKey: number) { end(id, with: answer, &effects) }
        case .timer(let number): wake(number)
        case .paused: isPaused = true
        case .resumed: isPaused = false
        case .awaited(let waiter): waiters.append(waiter)
        case .abandoned(let waiter): waiters.removeAll { $0 == waiter }
        case .cleared: clear()
        }
        begin(&effects)
        if entries.isEmpty, !waiters.isEmpty {
            effects.append(.idle(waiters))
            waiters = []
        }
        return effects
    }

    private mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Events

    private mutating func add(_ item: Item, _ effects: inout [Effect]) {
        precondition(entries[item.id] == nil, "event \(item.id) waits already")
        // An event that has failed before a restart does not hold up others.
        entries[item.id] = Entry(item: item, hasFailed: item.attempts > 0)
        queues[item.document, default: []].append(item.id)
        triggers[item.trigger, default: TriggerLine()].waiting += 1
        if DeliveryPolicy.reportedDepths.contains(item.depth) { effects.append(.loop(item)) }
        advance(item.document)
    }

    private mutating func drop(_ id: Int64) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        let (document, trigger) = (entry.item.document, entry.item.trigger)
        queues[document]?.removeAll { $0 == id }
        if queues[document]?.isEmpty == true { queues[document] = nil }
        triggers[trigger]?.waiting -= 1
        triggers[trigger]?.removeReady(id)
        advance(document)
    }

    private mutating func end(
        _ id: Int64, with answer: DeliveryAnswer, _ effects: inout [Effect]
    ) {
        guard let item = entries[id]?.item else { return }
        triggers[item.trigger]?.underWay -= 1
        switch answer {
        case .delivered:
            confirm(item.trigger)
            effects.append(.finish(item))
            drop(id)
        case .unknownKey:
            if triggers[item.trigger]?.mayAppear(policy) == true {
                hold(item, reason: "the key is not registered there", &effects)
            } else {
                effects.append(.forget(item.trigger))
                remove(item.trigger)
            }
        case .unreachable(let reason): hold(item, reason: reason, &effects)
        case .failed(let reason): retry(id, reason: reason, &effects)
        case .refused(let reason):
            confirm(item.trigger)
            effects.append(.setAside(item, reason: reason))
            drop(id)
        }
    }

    /// Lets the event wait until its receiver is asked again.
    private mutating func hold(_ item: Item, reason: String, _ effects: inout [Effect]) {
        entries[item.id]?.phase = .waiting
        entries[item.id]?.hasFailed = true
        guard var line = triggers[item.trigger] else { return }
        if !line.isHeld {
            line.isHeld = true
            line.holds += 1
            let timer = nextNumber()
            timers[timer] = .trigger(item.trigger)
            effects.append(.hold(item.trigger, reason: reason, isFirst: line.holds == 1))
            effects.append(.startTimer(timer, policy.pause(holds: line.holds)))
        }
        // The events that are ready hold up nobody now.
        let ready = line.ready
        triggers[item.trigger] = line
        advance(item.document)
        for document in Set(ready.compactMap { entries[$0]?.item.document }) { advance(document) }
    }

    private mutating func retry(_ id: Int64, reason: String, _ effects: inout [Effect]) {
        guard var entry = entries[id] else { return }
        entry.item.attempts += 1
        entry.hasFailed = true
        entry.phase = .pausing
        entries[id] = entry
        if entry.item.attempts >= policy.maxAttempts {
            effects.append(.setAside(entry.item, reason: reason))
            return drop(id)
        }
        effects.append(.keepAttempts(entry.item, reason: reason))
        let timer = nextNumber()
        timers[timer] = .item(id)
        effects.append(.startTimer(timer, policy.pause(attempts: entry.item.attempts)))
        advance(entry.item.document)
    }

    private mutating func wake(_ number: Int) {
        switch timers.removeValue(forKey: number) {
        case .item(let id)?:
            guard entries[id]?.phase == .pausing, let document = entries[id]?.item.document else {
                return
            }
            entries[id]?.phase = .waiting
            advance(document)
        case .trigger(let trigger)?: triggers[trigger]?.isHeld = false
        case nil: break
        }
    }

    /// Notes that the receiver knows the key and can be reached.
    private mutating func confirm(_ trigger: Int64) {
        triggers[trigger, default: TriggerLine()].isConfirmed = true
        triggers[trigger]?.isHeld = false
        triggers[trigger]?.holds = 0
    }

    private mutating func remove(_ trigger: Int64) {
        let ids = entries.values.filter { $0.item.trigger == trigger }.map(\.item.id)
        for (number, id) in attempts where entries[id]?.item.trigger == trigger {
            attempts[number] = nil
        }
        for id in ids { drop(id) }
        triggers[trigger] = nil
    }

    private mutating func clear() {
        entries = [:]
        queues = [:]
        attempts = [:]
        timers = [:]
        for trigger in triggers.keys { triggers[trigger]?.empty() }
    }

    // MARK: Order

    /// Marks the events of a document that may be delivered now.
    private mutating func advance(_ document: DocumentKey) {
        var seen: Set<Int64> = []
        var change: Int64?
        for id in (queues[document] ?? []).prefix(Self.maxLook) {
            guard let entry = entries[id] else { continue }
            // Later changes wait for the first one that nobody has failed to take.
            if let change, entry.item.change != change { return }
            let trigger = entry.item.trigger
            // The earlier event of the same function comes first.
            if !seen.insert(trigger).inserted { continue }
            if entry.phase == .waiting {
                entries[id]?.phase = .ready
                triggers[trigger, default: TriggerLine()].insert(id)
            }
            if !entry.hasFailed, triggers[trigger]?.isHeld != true { change = entry.item.change }
        }
    }

    /// Begins as many attempts as the bounds allow, the oldest event first.
    private mutating func begin(_ effects: inout [Effect]) {
        if isPaused { return }
        while attempts.count < Self.maxTotal {
            let free = triggers.lazy.filter { $0.value.hasWork(upTo: Self.maxPerTrigger) }
            let next = free.min { $0.value.ready[0] < $1.value.ready[0] }?.key
            guard let next, let id = triggers[next]?.take() else { return }
            entries[id]?.phase = .underWay
            guard let item = entries[id]?.item else { continue }
            let number = nextNumber()
            attempts[number] = id
            effects.append(.deliver(number, item))
        }
    }
}

/// The events of one trigger in a ``DeliveryMachine``.
private struct TriggerLine: Equatable, Sendable {
    /// The events that may be delivered now, oldest first.
    private(set) var ready: [Int64] = []
    var underWay = 0
    /// The number of events that are not delivered.
    var waiting = 0
    /// True while the receiver is not asked, because it could not be reached.
    var isHeld = false
    /// The number of times in a row that the receiver could not be reached.
    var holds = 0
    /// True if the key was registered, or took an event, in this process.
    var isConfirmed = false

    func hasWork(upTo most: Int) -> Bool { !ready.isEmpty && !isHeld && underWay < most }

    /// Returns true if an unknown key can still be registered.
    func mayAppear(_ policy: DeliveryPolicy) -> Bool {
        !isConfirmed && holds < policy.maxHoldsOfUnknownKey
    }

    mutating func insert(_ id: Int64) {
        let index = ready.firstIndex { $0 > id } ?? ready.count
        ready.insert(id, at: index)
    }

    mutating func take() -> Int64 {
        underWay += 1
        return ready.removeFirst()
    }

    mutating func removeReady(_ id: Int64) { ready.removeAll { $0 == id } }

    mutating func empty() {
        ready = []
        underWay = 0
        waiting = 0
        isHeld = false
        holds = 0
    }
}

/// The bounds and pauses of deliveries.
struct DeliveryPolicy: Equatable, Sendable {
    /// The number of failures after which an event is set aside.
    var maxAttempts = 5
    /// The number of pauses after which an unknown key of an earlier process is forgotten: about a
    /// minute and a half.
    var maxHoldsOfUnknownKey = 24
    /// The lengths of chains that are reported.
    static let reportedDepths: Set<Int> = [10, 100, 1_000]

    /// Returns the pause after a failed attempt: 250 ms, four times as long each time, at most
    /// 30 s.
    func pause(attempts: Int) -> Duration {
        min(.seconds(30), .milliseconds(250 << (2 * min(attempts - 1, 8))))
    }

    /// Returns the pause of a receiver that cannot be reached: 50 ms, doubled each time, at most
    /// 5 s.
    func pause(holds: Int) -> Duration {
        min(.seconds(5), .milliseconds(50 << min(holds - 1, 10)))
    }
}
