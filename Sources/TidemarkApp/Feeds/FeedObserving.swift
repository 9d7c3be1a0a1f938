import Tidemark

/// The observers of a feed, and what its present sync has done so far.
struct FeedObservers: Sendable {
    private(set) var receivers: [(observer: Observer, context: String)] = []
    private var usedMark: Timestamp?
    /// The number of running calls. Calls during a sync share it, and it is reported once.
    private var running = 0

    mutating func add(_ observer: Observer, _ context: String) {
        receivers.append((observer, context))
    }

    /// Returns true if the call begins a sync of its own.
    mutating func begin() -> Bool {
        running += 1
        if running == 1 { usedMark = nil }
        return running == 1
    }

    mutating func end() { running -= 1 }

    /// Notes the mark that a query used.
    mutating func hear(_ event: FeedEvent) {
        switch event {
        case .used(let mark): usedMark = mark
        case .dropped: usedMark = nil
        case .moved, .received, .notShared, .foundByAudit, .asked: break
        }
    }

    /// Tells the observers of a moved mark.
    func notifyMoved(_ event: FeedEvent) {
        switch event {
        case .moved(let name, let move): notify(name, move, isOfOtherDevice: false)
        case .received(let move): notify(.action, move, isOfOtherDevice: true)
        case .used, .dropped, .notShared, .foundByAudit, .asked: break
        }
    }

    private func notify(_ name: Marks.Name, _ move: Marks.Move, isOfOtherDevice: Bool) {
        for (observer, context) in receivers {
            observer.receive(
                .markMoved(
                    ObservedMark(
                        context: context, mark: name, move: move,
                        isOfOtherDevice: isOfOtherDevice)))
        }
    }

    /// Tells the observers of a sync.
    func notify(_ result: Result<FeedSync, FirestoreError>, after time: Duration) {
        let sync = (try? result.get()) ?? FeedSync()
        var failure: FirestoreErrorCode?
        if case .failure(let error) = result { failure = error.code }
        for (observer, context) in receivers {
            observer.receive(
                .synced(
                    ObservedSync(
                        context: context, reads: sync.reads,
                        filter: sync.plans.first.map(ObservedSync.Filter.init) ?? .everything,
                        usedMark: usedMark, time: time, failure: failure)))
        }
    }
}

extension ObservedSync.Filter {
    init(_ plan: ReadPlan) {
        self =
            switch plan.kind {
            case .resume, .delta: .changes
            case .page: .items
            case .audit, .count: .audit
            case .full, .marks: .everything
            }
    }
}

extension ParsedDefinition {
    /// The path of the query, with `*` for each document: a name without a user's ids.
    var context: String {
        let above = (query.parent?.text ?? "").split(separator: "/").enumerated()
            .map { $0.offset.isMultiple(of: 2) ? String($0.element) : "*" }
        let group = query.allDescendants ? ["**"] : []
        return (above + group + [query.collectionID ?? "*"]).joined(separator: "/")
    }
}

/// Logs the marks of feeds, while logging is on.
enum FeedLog {
    static func note(_ event: FeedEvent, of context: String) {
        guard Log.isEnabled else { return }
        switch event {
        case .moved(let name, let move): Log.debug("\(context): \(name) mark \(move)")
        case .received(let move): Log.debug("\(context): action mark of another device \(move)")
        case .used(let mark): Log.debug("\(context): only items above the mark \(mark.rfc3339)")
        case .dropped(_, let error): Log.debug("\(context): marks dropped, \(error.code)")
        case .notShared(let error): Log.debug("\(context): mark not shared, \(error.code)")
        case .foundByAudit(let count): Log.debug("\(context): audit found \(count) hidden")
        case .asked(let plan): Log.debug("\(context): \(plan.reason)")
        }
    }
}
