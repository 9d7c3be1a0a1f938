import TidemarkModel
import TidemarkStore

/// The core's part for document events: the triggers, the outbox, and the machine that orders
/// deliveries.
///
/// A commit stores its events in its own transaction, so an event is lost only with its commit. A
/// full outbox refuses the commit. Before ``start(_:files:policy:)`` there are no triggers, and a
/// commit costs nothing.
final class DocumentEvents {
    /// The maximum number of triggers.
    static let maxTriggers = 1_000

    /// Work for the server's shell.
    enum Outward: Sendable {
        case deliver(Int, DocumentEvent)
        case startTimer(Int, Duration)
        case idle([Int])
    }

    private struct Tally {
        var delivered = 0
        var lastDelivered: Timestamp?
        var lastError: String?
        var deepestChain = 0
    }

    private let store: DocumentStore
    private let environment: ServerEnvironment
    private(set) var receiver: (any EventReceiver)?
    /// False while commits cause no events.
    var isRecording = true
    private var triggers: [Int64: EventRegistration] = [:]
    private var index = TriggerIndex()
    private var machine = DeliveryMachine()
    private var effects: [DeliveryMachine.Effect] = []
    private var outbox: EventOutbox
    private var tallies: [Int64: Tally] = [:]

    init(
        _ store: DocumentStore, environment: ServerEnvironment,
        outbox: EventOutbox = EventOutbox()
    ) {
        self.store = store
        self.environment = environment
        self.outbox = outbox
    }

    // MARK: Triggers

    /// Reads the triggers and the waiting events of earlier processes, and begins to deliver.
    ///
    /// - Parameters:
    ///   - files: The triggers with an address. Stored triggers with an address that are not among
    ///     them are removed with their events.
    ///   - policy: The bounds and pauses of deliveries.
    func start(
        _ receiver: any EventReceiver, files: [EventTrigger], policy: DeliveryPolicy
    ) throws {
        let (registrations, outlines) = try store.write(.disk) { transaction in
            let table = EventTable(transaction: transaction)
            try Self.save(files, to: table)
            return (try table.registrations(), try table.outlines())
        }
        self.receiver = receiver
        machine = DeliveryMachine(policy: policy)
        triggers = Dictionary(uniqueKeysWithValues: registrations.map { ($0.id, $0) })
        makeIndex()
        for registration in registrations where registration.trigger.address != nil {
            effects += machine.step(.registered(registration.id))
        }
        for outline in outlines where triggers[outline.trigger] != nil { outbox.add(outline) }
        let items = outlines.filter { $0.state == .waiting }.compactMap(item)
        effects += machine.step(.recorded(items))
    }

    private static func save(
        _ files: [EventTrigger], to table: EventTable
    ) throws(StoreError) {
        var known: [TriggerKey: Int64] = [:]
        let wanted = Set(files.map(TriggerKey.init))
        for registration in try table.registrations() {
            let key = TriggerKey(registration.trigger)
            if registration.trigger.address != nil, !wanted.contains(key) {
                try table.remove(trigger: registration.id)
            } else {
                known[key] = registration.id
            }
        }
        for trigger in files { _ = try table.save(trigger, as: known[TriggerKey(trigger)]) }
    }

    /// Registers a trigger, or replaces the one of the same key in its project.
    ///
    /// - Throws: ``RPCStatus`` if there are too many; ``StoreError``.
    func register(_ trigger: EventTrigger) throws {
        guard receiver != nil else {
            throw RPCStatus(.failedPrecondition, "This server delivers no document events.")
        }
        let key = TriggerKey(trigger)
        let known = triggers.values.first { TriggerKey($0.trigger) == key }?.id
        if known == nil, triggers.count >= Self.maxTriggers {
            throw RPCStatus(
                .resourceExhausted, "The server has \(Self.maxTriggers) triggers, its maximum.")
        }
        let id = try store.write(.disk) { transaction in
            try EventTable(transaction: transaction).save(trigger, as: known)
        }
        triggers[id] = EventRegistration(id: id, trigger: trigger)
        makeIndex()
        effects += machine.step(.registered(id))
    }

    /// Removes a trigger and its events.
    ///
    /// - Returns: False if there is no such trigger.
    func remove(key: String, project: String) throws -> Bool {
        let wanted = TriggerKey(project: project, key: key)
        guard let id = triggers.values.first(where: { TriggerKey($0.trigger) == wanted })?.id else {
            return false
        }
        try store.write(.disk) { try EventTable(transaction: $0).remove(trigger: id) }
        forget(id)
        effects += machine.step(.removed(id))
        return true
    }

    private func makeIndex() {
        let active = triggers.values.filter { receiver?.reaches($0.trigger) == true }
        index = TriggerIndex(active.sorted { $0.id < $1.id })
    }

    /// Drops a trigger and its events in memory.
    private func forget(_ trigger: Int64) {
        outbox.removeAll(of: trigger)
        triggers[trigger] = nil
        tallies[trigger] = nil
        makeIndex()
    }

    /// Returns the machine's item of a waiting event; nil if nobody can deliver it.
    private func item(_ outline: EventTable.Outline) -> DeliveryMachine.Item? {
        guard let trigger = triggers[outline.trigger]?.trigger, receiver?.reaches(trigger) == true
        else { return nil }
        return DeliveryMachine.Item(
            id: outline.id, trigger: outline.trigger,
            document: DeliveryMachine.DocumentKey(database: trigger.database, path: outline.path),
            change: outline.time.microseconds, attempts: outline.attempts, depth: outline.depth)
    }

    // MARK: Commits

    /// Returns the events of a commit; none without a trigger, and none for an import.
    ///
    /// - Parameter earlier: The events of earlier commits of the same transaction.
    /// - Throws: `resourceExhausted` if the outbox has no room for them.
    func drafts(
        of differences: [DocumentDifference], context: CallContext, time: Timestamp,
        after earlier: RecordedEvents
    ) throws(RPCStatus) -> [EventDraft] {
        if index.isEmpty || !isRecording || context.isImport { return [] }
        var drafts: [EventDraft] = []
        lazy var author = EventAuthor(context)
        for difference in differences where isChange(difference) {
            let found = index.registrations(for: difference, in: context.database)
            if found.isEmpty { continue }
            let document = DeliveryMachine.DocumentKey(
                database: context.database, path: difference.path)
            let depth = author.canBeFunction ? machine.depth(of: document) : 0
            drafts += found.map {
                draft(difference, for: $0.id, at: time, by: author, depth: depth)
            }
        }
        if !drafts.isEmpty { try outbox.checkRoom(for: drafts, after: earlier) }
        return drafts
    }

    /// A document that was deleted and made again with the same fields has not changed.
    private func isChange(_ difference: DocumentDifference) -> Bool {
        guard let before = difference.before, let after = difference.fieldsAfter else {
            return true
        }
        return before.fields != after
    }

    private func draft(
        _ difference: DocumentDifference, for trigger: Int64, at time: Timestamp,
        by author: EventAuthor, depth: Int
    ) -> EventDraft {
        EventDraft(
            trigger: trigger,
            event: EventID.text(environment.randomBits(), environment.randomBits()),
            path: difference.path, time: time, before: difference.before?.document,
            after: difference.after, author: author, depth: depth)
    }

    /// Stores events in the transaction of their commit.
    func save(
        _ drafts: [EventDraft], in transaction: StoreTransaction, to recorded: inout RecordedEvents
    ) throws(StoreError) {
        let table = EventTable(transaction: transaction)
        for draft in drafts {
            recorded.append(
                EventTable.Outline(
                    id: try table.append(draft), trigger: draft.trigger, state: .waiting,
                    size: draft.size, time: draft.time, attempts: 0, depth: draft.depth,
                    event: draft.event, path: draft.path))
        }
    }

    /// Takes over stored events after their transaction is durable.
    func adopt(_ recorded: RecordedEvents) {
        if recorded.outlines.isEmpty { return }
        for outline in recorded.outlines {
            outbox.add(outline)
            if outline.depth > 0 {
                let deepest = tallies[outline.trigger]?.deepestChain ?? 0
                tallies[outline.trigger, default: Tally()].deepestChain = max(
                    deepest, outline.depth)
            }
        }
        effects += machine.step(.recorded(recorded.outlines.compactMap(item)))
    }

    /// Stores an event for each document that the clearing of a database removes.
    ///
    /// - Throws: `resourceExhausted` if the outbox has no room for them; ``StoreError``.
    func storeClearing(
        of database: DatabaseID, at time: Timestamp, in transaction: StoreTransaction
    ) throws -> RecordedEvents {
        var recorded = RecordedEvents()
        guard index.concerns(database) else { return recorded }
        let table = transaction.documents(of: database)
        let paths = try table.paths(
            """
            SELECT document.collection, document.name FROM document
            JOIN collection ON collection.id = document.collection
            JOIN database AS place ON place.id = collection.database
            WHERE place.name = ? ORDER BY document.id
            """, [.text(database.name)])
        let context = CallContext(database: database, token: RulesIdentity.owner)
        for path in paths {
            guard let before = try table.row(at: path).flatMap(DocumentVersion.init) else {
                continue
            }
            let difference = DocumentDifference(
                path: path, before: before, after: nil, fieldsAfter: nil)
            let drafts = try drafts(
                of: [difference], context: context, time: time, after: recorded)
            try save(drafts, in: transaction, to: &recorded)
        }
        return recorded
    }

    // MARK: Deliveries

    func step(_ event: DeliveryMachine.Event) { effects += machine.step(event) }

    /// Performs the effects of all steps so far on disk and in memory.
    ///
    /// - Returns: The work that remains for the shell.
    func takeOutward() -> [Outward] {
        var outward: [Outward] = []
        while !effects.isEmpty {
            let batch = effects
            effects = []
            write(batch.flatMap { changes(by: $0) })
            for effect in batch { outward += self.outward(effect) }
        }
        return outward
    }

    private func outward(_ effect: DeliveryMachine.Effect) -> [Outward] {
        switch effect {
        case .deliver(let number, let item):
            if let event = event(of: item) { return [.deliver(number, event)] }
            effects += machine.step(.answered(number, .refused("The event cannot be read.")))
            return []
        case .startTimer(let number, let pause): return [.startTimer(number, pause)]
        case .idle(let waiters): return [.idle(waiters)]
        case .finish, .keepAttempts, .setAside, .forget, .hold, .loop: return []
        }
    }

    private func event(of item: DeliveryMachine.Item) -> DocumentEvent? {
        guard let trigger = triggers[item.trigger]?.trigger else { return nil }
        return try? store.read { try EventTable(transaction: $0).event(item.id, of: trigger) }
    }

    /// Writes changes without waiting for the disk: after a loss of power, an event is delivered
    /// again. A failure has the same consequence.
    private func write(_ changes: [EventOutbox.Change]) {
        if changes.isEmpty { return }
        do {
            try store.write { transaction in
                let table = EventTable(transaction: transaction)
                for change in changes { try change.write(to: table) }
            }
        } catch {
            environment.log("events: the outbox cannot be written, so events may be repeated")
        }
    }

    /// Changes the memory, logs, and returns the changes for the disk.
    private func changes(by effect: DeliveryMachine.Effect) -> [EventOutbox.Change] {
        switch effect {
        case .finish(let item): return finish(item)
        case .keepAttempts(let item, let reason):
            tallies[item.trigger, default: Tally()].lastError = reason
            return [.keepAttempts(item.id, item.attempts)]
        case .setAside(let item, let reason):
            tallies[item.trigger, default: Tally()].lastError = reason
            log(
                item.trigger,
                "did not take an event for \(item.document.path), set aside: \(reason)")
            return outbox.putAside(item.id, reason: reason)
        case .forget(let trigger):
            let count = outbox.waitingCount(of: trigger)
            log(trigger, "is unknown to its receiver, and was removed with \(count) events")
            forget(trigger)
            return [.removeTrigger(trigger)]
        case .hold(let trigger, let reason, let isFirst):
            tallies[trigger, default: Tally()].lastError = reason
            if isFirst { log(trigger, "cannot be reached, and its events wait: \(reason)") }
            return []
        case .loop(let item):
            let path = item.document.path
            log(
                item.trigger,
                "seems to trigger itself: a chain of \(item.depth) events, the last for \(path)")
            return []
        case .deliver, .startTimer, .idle: return []
        }
    }

    private func finish(_ item: DeliveryMachine.Item) -> [EventOutbox.Change] {
        let (outline, changes) = outbox.finish(item.id)
        tallies[item.trigger, default: Tally()].delivered += 1
        if let outline { tallies[item.trigger]?.lastDelivered = outline.time }
        return changes
    }

    private func log(_ trigger: Int64, _ text: String) {
        environment.log("events: \(triggers[trigger]?.trigger.key ?? "a trigger") \(text)")
    }

    // MARK: Repetition

    /// Delivers an event again that was delivered or set aside, behind the waiting ones.
    ///
    /// - Throws: `notFound` if there is no such event; ``StoreError``.
    func repeatEvent(_ event: String) throws {
        guard let old = outbox.kept(event) else {
            throw RPCStatus(
                .notFound,
                "No event \"\(event.prefix(100))\" was set aside or is among the last delivered.")
        }
        let new = try store.write(.disk) { transaction in
            try EventTable(transaction: transaction).repeatEvent(old.id)
        }
        outbox.removeKept(old)
        if let new { adopt(RecordedEvents([new])) }
    }

    // MARK: Snapshots

    /// Writes the present triggers over those of a snapshot, and removes all events: a server that
    /// went back to a snapshot repeats nothing.
    func rewrite(in transaction: StoreTransaction) throws(StoreError) {
        let table = EventTable(transaction: transaction)
        try table.removeAll()
        for registration in triggers.values.sorted(by: { $0.id < $1.id }) {
            _ = try table.save(registration.trigger, as: registration.id)
        }
        outbox.removeAll()
        effects += machine.step(.cleared)
    }

    // MARK: Reports

    var isPaused: Bool { machine.isPaused }
    /// True if an event waits that can be delivered.
    var hasWork: Bool { machine.waitingCount > 0 }

    func report() -> EventReport {
        var counts: [Int64: Int] = [:]
        for outline in outbox.setAside { counts[outline.trigger, default: 0] += 1 }
        let lines = triggers.values.sorted { $0.id < $1.id }.map { registration in
            let tally = tallies[registration.id] ?? Tally()
            return EventReport.Trigger(
                registration.trigger,
                isReachable: receiver?.reaches(registration.trigger) == true
                    && !machine.isHeld(registration.id),
                waiting: machine.waitingCount(of: registration.id),
                setAside: counts[registration.id] ?? 0, delivered: tally.delivered,
                lastDelivered: tally.lastDelivered, lastError: tally.lastError,
                longestChain: tally.deepestChain)
        }
        return EventReport(
            isPaused: machine.isPaused, waiting: machine.waitingCount,
            underWay: machine.underWayCount, bytes: outbox.bytes, triggers: lines,
            setAside: outbox.setAside.reversed().prefix(EventReport.maxEvents).map(line),
            delivered: outbox.delivered.reversed().prefix(EventReport.maxEvents).map(line))
    }

    private func line(_ outline: EventTable.Outline) -> EventReport.Event {
        EventReport.Event(
            id: outline.event, trigger: triggers[outline.trigger]?.trigger.key ?? "",
            document: outline.path.text, time: outline.time.rfc3339, reason: outline.reason)
    }
}
