import TidemarkModel

/// One call or stream, as the console shows it.
package struct TrafficEntry: Hashable, Sendable, Codable {
    /// Counts from 1; the order in which they began.
    package let id: Int
    /// Microseconds since 1970, by the server's machine.
    package let began: Int64
    package let method: String
    package let database: String
    package let label: String?
    package let client: String?
    /// What it asked for, in words: a path, or a query. Of a listen, its newest target.
    package var asked: String
    /// Documents that were sent to the client.
    package var documents = 0
    /// Messages that came and went; for a call its replies.
    package var messages = 0
    /// About the bytes sent to the client.
    package var bytes = 0
    /// What was billed; of a stream that is open, what its documents have cost so far.
    package var reads = 0
    package var writes = 0
    package var deletes = 0
    /// Microseconds until its end; nil while it goes on.
    package var duration: Int64?
    /// `OK`, or the status code's name; nil while it goes on.
    package var outcome: String?
    /// The sentence of an error.
    package var message: String?
    /// Of a listen: its targets, the newest ``maxTargets``.
    package var targets: [Target] = []

    /// Beyond this the oldest targets of a stream are forgotten.
    static let maxTargets = 100

    package struct Target: Hashable, Sendable, Codable {
        package let id: Int32
        package let asked: String
        /// Whether the client came back with a token, or a read time.
        package let isResumed: Bool
        package var documents = 0
        package var state: State = .starting

        package enum State: String, Hashable, Sendable, Codable { case starting, current, removed }
    }
}

extension TrafficEntry {
    mutating func add(_ target: ListenTarget) {
        asked = target.kind.sentence
        var isResumed = true
        if case .fromScratch = target.resume { isResumed = false }
        targets.append(Target(id: target.id, asked: asked, isResumed: isResumed))
        if targets.count > Self.maxTargets { targets.removeFirst() }
    }

    mutating func note(_ response: ListenResponse) {
        messages += 1
        switch response {
        case .documentChange(let change):
            documents += 1
            bytes += change.document.contents.bytes.count + change.document.path.text.utf8.count
            for id in change.targetIDs { update(id) { $0.documents += 1 } }
        case .targetChange(let change):
            switch change.kind {
            case .current: for id in change.targetIDs { update(id) { $0.state = .current } }
            case .remove:
                for id in change.targetIDs { update(id) { $0.state = .removed } }
                if let cause = change.cause { message = cause.message }
            case .add, .noChange, .reset: break
            }
        case .documentDelete, .documentRemove, .existenceFilter: break
        }
    }

    private mutating func update(_ id: Int32, _ change: (inout Target) -> Void) {
        guard let index = targets.lastIndex(where: { $0.id == id }) else { return }
        change(&targets[index])
    }

    mutating func note(_ reply: Reply) {
        messages += 1
        var sent: [Document] = []
        switch reply {
        case .document(let document): sent = [document]
        case .listDocuments(let rows, _): sent = rows.compactMap(\.document)
        case .batchGetDocuments(let result):
            if case .found(let document)? = result.row { sent = [document] }
        case .runQuery(let reply): sent = reply.document.map { [$0] } ?? []
        case .empty, .beginTransaction, .commit, .runAggregationQuery, .listCollectionIDs,
            .batchWrite, .partitionQuery:
            break
        }
        documents += sent.count
        for document in sent {
            bytes += document.contents.bytes.count + document.path.text.utf8.count
        }
    }

    mutating func end(_ status: RPCStatus, at time: Int64) {
        duration = time - began
        outcome = status.code == .ok ? "OK" : "\(status.code)"
        if status.code != .ok { message = status.message }
        func figure(_ name: String) -> Int? { status.trailers[name].flatMap { Int($0) } }
        reads = figure("x-tidemark-reads") ?? reads
        writes = figure("x-tidemark-writes") ?? writes
        deletes = figure("x-tidemark-deletes") ?? deletes
    }
}
