import TidemarkModel
import TidemarkServer

/// A listen stream and a client that checks every rule of the protocol: each request has one
/// answer, each document arrives once per snapshot, each commit has one boundary, time never moves
/// back, and at every boundary all targets have the state of the same time.
///
/// Source: server-protocol 1.9 and server-production-facts 7.
final class CheckedStream {
    let targets: [CheckedTarget]
    /// The requests and responses, for the report of a failure.
    private(set) var log: [String] = []
    private var listen: CheckedListen?
    private var readTime: Timestamp?
    /// The time of the last boundary on any stream of this client.
    private(set) var lastBoundary: Timestamp?
    /// The documents that the server has sent since the last boundary; nil for deleted documents.
    private var told: [DocumentPath: Document?] = [:]
    private var hasNews = false
    /// The boundary that must come next.
    private enum Due { case nothing, acknowledgement, first }
    private var due = Due.nothing

    init(_ targets: [CheckedTarget]) { self.targets = targets }

    var isOpen: Bool { listen != nil }

    func open(_ server: TestServer) {
        log.append("open")
        listen = CheckedListen(server)
        readTime = nil
        told = [:]
        hasNews = false
        due = .nothing
        for target in targets { target.drop() }
    }

    /// Closes the stream. Changes after the last boundary are lost.
    func cut() {
        log.append("cut")
        listen?.cancel()
        listen = nil
        for target in targets { target.drop() }
    }

    // MARK: - Asking

    func add(_ target: CheckedTarget, _ resume: ListenTarget.Resume, expecting count: Int32?) {
        target.isListening = true
        target.isCurrent = false
        target.changes = [:]
        target.pendingAcks += 1
        let from = "\(resume)".prefix(10)
        log.append("add \(target.id) \(from), holds \(target.held.count) of \(count ?? -1)")
        target.resumes = resume != .fromScratch && resume != .token([])
        listen?.send(
            .add(
                ListenTarget(
                    id: target.id, target.kind, resume: resume, expectedCount: count,
                    once: target.isOnce), labels: [:]))
    }

    func remove(_ target: CheckedTarget) {
        log.append("remove \(target.id)")
        target.isCurrent = false
        target.changes = [:]
        target.pendingAcks += 1
        listen?.send(.remove(targetID: target.id))
    }

    // MARK: - Hearing

    /// Checks the received messages. If `limit` is set, checks at most that many and then cuts the
    /// stream.
    func hear(_ truth: Truth, limit: Int? = nil) throws {
        guard let listen else { return }
        for response in listen.take().prefix(limit ?? .max) { try receive(response, truth) }
        if limit != nil { cut() }
    }

    /// Checks that nothing is missing after the server has sent everything.
    func checkQuiet(_ truth: Truth) throws {
        guard isOpen else { return }
        if due != .nothing || hasNews { throw Violation("a boundary is missing") }
        for target in targets where target.isListening {
            if target.pendingAcks != 0 { throw Violation("target \(target.id): no answer") }
            if !target.isCurrent { throw Violation("target \(target.id) is not current") }
            if target.held != truth.rows(of: target.kind, at: .max) {
                throw Violation("target \(target.id) missed a commit")
            }
        }
    }

    private func target(_ id: Int32) throws -> CheckedTarget {
        guard let target = targets.first(where: { $0.id == id }), target.isListening else {
            throw Violation("a message for target \(id), which is not listened to")
        }
        return target
    }

    private func receive(_ response: ListenResponse, _ truth: Truth) throws {
        log += brief([response])
        if case .targetChange(let change) = response {
            if change.targetIDs.isEmpty { return try boundary(change, truth) }
            if due != .nothing { throw Violation("no boundary where one is due") }
            for id in change.targetIDs { try receive(change, try target(id)) }
            return
        }
        if due != .nothing { throw Violation("no boundary where one is due") }
        hasNews = true
        switch response {
        case .targetChange: break
        case .documentChange(let change):
            if change.targetIDs.isEmpty, change.removedTargetIDs.isEmpty {
                throw Violation("a document of no target")
            }
            told.updateValue(change.document, forKey: change.document.path)
            for id in change.targetIDs {
                let target = try target(id)
                if target.isActive { try target.add(change.document) }
            }
            try remove(change.document.path, from: change.removedTargetIDs)
        case .documentDelete(let removal):
            told.updateValue(nil, forKey: removal.path)
            try remove(removal.path, from: removal.removedTargetIDs)
        case .documentRemove(let removal):
            try remove(removal.path, from: removal.removedTargetIDs)
        case .existenceFilter(let filter):
            let target = try target(filter.targetID)
            guard target.isActive, try !target.agrees(with: filter, in: truth.database) else {
                return
            }
            // Clients fetch a target again if the filter does not explain the difference.
            target.reset()
            // The server itself removes a target that listens only once.
            if target.isOnce { return target.pendingAcks += 1 }
            remove(target)
            add(target, .fromScratch, expecting: nil)
        }
    }

    private func remove(_ path: DocumentPath, from ids: [Int32]) throws {
        for id in ids {
            let target = try target(id)
            if target.isActive { try target.remove(path) }
        }
    }

    private func receive(_ change: TargetChange, _ target: CheckedTarget) throws {
        switch change.kind {
        case .add:
            if target.pendingAcks == 0 { throw Violation("ADD \(target.id) was not asked for") }
            target.pendingAcks -= 1
            if target.resumes { due = .acknowledgement }
        case .remove:
            if let cause = change.cause {
                guard target.expectsRefusal else { throw Violation("refused: \(cause)") }
                return target.drop()
            }
            if target.isOnce, target.isCurrent { return target.drop() }
            if target.pendingAcks == 0 { throw Violation("REMOVE \(target.id) unasked") }
            target.pendingAcks -= 1
            // The last request was a removal, unless the client is fetching the target again.
            if target.pendingAcks == 0 { target.drop() }
        case .current:
            if change.resumeToken.isEmpty || change.readTime == nil {
                throw Violation("CURRENT without a token and a time")
            }
            due = .first
            guard target.isActive else { return }
            if target.isCurrent { throw Violation("CURRENT \(target.id) twice") }
            target.isCurrent = true
        case .reset: if target.isActive { target.reset() }
        case .noChange: throw Violation("a token for some targets only")
        }
    }

    private func boundary(_ change: TargetChange, _ truth: Truth) throws {
        guard change.kind == .noChange, let time = change.readTime else {
            throw Violation("\(change.kind) for all targets")
        }
        if let last = readTime, time < last { throw Violation("read times went back") }
        if due == .nothing {
            // The server sends a token of the present time on a stream that was quiet for long.
            let quiet = lastBoundary.map { time.duration(since: $0) } ?? .zero
            if !hasNews, quiet < .seconds(30) { throw Violation("a boundary of nothing") }
            if time == readTime { throw Violation("two boundaries for one commit") }
        }
        for (path, document) in told where truth.document(at: path, time) != document {
            throw Violation("\(path) is not what it was at the boundary")
        }
        try checkTimeBetween(truth, time)
        for target in targets where target.isActive {
            target.settle(token: change.resumeToken, time)
            guard target.isCurrent else { continue }
            let rows = truth.rows(of: target.kind, at: time)
            if target.held != rows {
                throw Violation(
                    "target \(target.id) (\(target.kind)) is not the query at the boundary: "
                        + "\(target.held.keys.map(\.text).sorted()), "
                        + "not \(rows.keys.map(\.text).sorted())")
            }
        }
        due = .nothing
        told = [:]
        hasNews = false
        readTime = time
        lastBoundary = time
    }

    /// Checks that no commit between two boundaries changed a target, because such a commit needs
    /// its own boundary.
    private func checkTimeBetween(_ truth: Truth, _ time: Timestamp) throws {
        guard let last = readTime else { return }
        for commit in truth.commits(after: last, before: time) {
            for target in targets where target.isActive && target.isCurrent && due != .first {
                if truth.rows(of: target.kind, at: commit) != target.held {
                    throw Violation("a commit had no boundary of its own")
                }
            }
        }
    }
}

/// A stream whose requests wait for the next turn of the machine.
final class CheckedListen {
    private let heard = Heard<ListenResponse>()
    private let stream: any RequestStream<ListenRequest>

    init(_ server: TestServer) {
        let heard = heard
        stream = server.server.listen(server.context()) { heard.receive($0) }
    }

    func send(_ request: ListenRequest) { stream.send(request) }
    func cancel() { stream.cancel() }
    func take() -> [ListenResponse] { heard.take() }
}
