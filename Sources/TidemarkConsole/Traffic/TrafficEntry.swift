package import TidemarkModel

/// A call or stream in the console.
package struct TrafficEntry: Hashable, Sendable, Codable {
    /// The number of the call or stream, from 1, in the order of their begin.
    package let id: Int
    /// The begin in microseconds since 1970, by the server's machine.
    package let began: Int64
    package let method: String
    package let database: String
    package let label: String?
    package let client: String?
    /// The request in words: a path, or a query. For a listen, its newest target.
    package var asked: String
    /// The number of documents that were sent to the client.
    package var documents = 0
    /// The number of messages in both directions; for a call the number of its replies.
    package var messages = 0
    /// The approximate number of bytes that were sent to the client.
    package var bytes = 0
    /// The billed reads; for an open stream, the cost of its documents so far.
    package var reads = 0
    package var writes = 0
    package var deletes = 0
    /// The units of a database of the Enterprise edition; nil for another, and until the end.
    package var units: BilledUnits?
    /// The microseconds until the end; nil while the call runs.
    package var duration: Int64?
    /// `OK`, or the status code's name; nil while the call runs.
    package var outcome: String?
    /// The sentence of an error.
    package var message: String?
    /// The targets of a listen, the newest ``maxTargets``.
    package var targets: [Target] = []
    /// The events of a listen, the newest ``maxMoments``.
    package var life: [Moment] = []
    /// The connections with deliveries to functions.
    package var links = TrafficLinks()

    /// The maximum number of commits; above it, the oldest commits of a stream are forgotten.
    static let maxCommits = 100

    /// The maximum number of targets; above it, the oldest targets of a stream are forgotten.
    static let maxTargets = 100

    /// The maximum number of moments; above it, the oldest moments of a stream are forgotten.
    static let maxMoments = 200

    /// The maximum number of bytes of each text; a longer text is cut.
    static let maxTextBytes = 1_000

    /// The mean size of the sent documents, with the 32 bytes that each has beside its contents.
    var meanDocumentBytes: Int { documents == 0 ? 0 : bytes / documents + 32 }

    /// The approximate number of bytes in memory.
    var extent: Int {
        var bytes = MemoryLayout<Self>.stride + life.count * MemoryLayout<Moment>.stride
        bytes += links.commits.count * MemoryLayout<Int64>.stride
        for text in [links.event?.id, links.event?.document] { bytes += text?.extent ?? 0 }
        for text in [database, label, client, asked, outcome, message] {
            bytes += text?.extent ?? 0
        }
        for target in targets { bytes += MemoryLayout<Target>.stride + target.asked.extent }
        return bytes
    }

    /// An event of a stream; consecutive documents are a single moment.
    package struct Moment: Hashable, Sendable, Codable {
        /// The time in microseconds since 1970; for documents, the time of the first.
        package let at: Int64
        /// The target; nil for the stream as a whole.
        package let target: Int32?
        package let what: What
        package var documents = 0

        package enum What: String, Hashable, Sendable, Codable {
            case asked, resumed, documents, removals, current, reset, mismatch, stopped, refused
        }
    }

    package struct Target: Hashable, Sendable, Codable {
        package let id: Int32
        package let asked: String
        /// True if the client resumed with a token, or a read time.
        package let isResumed: Bool
        package var documents = 0
        package var state: State = .starting

        package enum State: String, Hashable, Sendable, Codable { case starting, current, removed }
    }
}

/// The connections of an entry with deliveries to functions.
package struct TrafficLinks: Hashable, Sendable, Codable {
    /// The times of the commits, in microseconds since 1970, the newest
    /// ``TrafficEntry/maxCommits``.
    package var commits: [Int64] = []
    /// The event of a delivery to a function; nil for a call.
    package var event: TrafficEvent?
    /// The id of the delivery during which the call was made; nil if no function seems to have made
    /// it.
    package var cause: Int?
}

extension TrafficEntry {
    mutating func add(_ target: ListenTarget, at time: Int64) {
        asked = target.kind.sentence.cut
        var isResumed = true
        if case .fromScratch = target.resume { isResumed = false }
        targets.append(Target(id: target.id, asked: asked, isResumed: isResumed))
        if targets.count > Self.maxTargets { targets.removeFirst() }
        live(.init(at: time, target: target.id, what: isResumed ? .resumed : .asked))
    }

    /// Records that the client stops listening to a target.
    mutating func remove(_ id: Int32, at time: Int64) {
        live(.init(at: time, target: id, what: .stopped))
        update(id) { $0.state = .removed }
    }

    private mutating func live(_ moment: Moment) {
        let isMore = moment.what == .documents || moment.what == .removals
        if isMore, let last = life.last, last.what == moment.what, last.target == moment.target {
            life[life.count - 1].documents += moment.documents
            return
        }
        life.append(moment)
        if life.count > Self.maxMoments { life.removeFirst() }
    }

    mutating func note(_ response: ListenResponse, at time: Int64) {
        messages += 1
        switch response {
        case .documentChange(let change):
            documents += 1
            // Until the end reports the bill, each sent document counts as a read.
            reads += 1
            bytes += change.document.contents.bytes.count + change.document.path.text.utf8.count
            for id in change.targetIDs {
                update(id) { $0.documents += 1 }
                live(.init(at: time, target: id, what: .documents, documents: 1))
            }
        case .targetChange(let change): note(change, at: time)
        case .documentDelete(let removal), .documentRemove(let removal):
            for id in removal.removedTargetIDs {
                live(.init(at: time, target: id, what: .removals, documents: 1))
            }
        case .existenceFilter(let filter):
            live(.init(at: time, target: filter.targetID, what: .mismatch))
        }
    }

    private mutating func note(_ change: TargetChange, at time: Int64) {
        switch change.kind {
        case .current:
            for id in change.targetIDs {
                update(id) { $0.state = .current }
                live(.init(at: time, target: id, what: .current))
            }
        case .remove:
            for id in change.targetIDs {
                update(id) { $0.state = .removed }
                if change.cause != nil { live(.init(at: time, target: id, what: .refused)) }
            }
            if let cause = change.cause { message = cause.message.cut }
        case .reset:
            for id in change.targetIDs { live(.init(at: time, target: id, what: .reset)) }
        case .add, .noChange: break
        }
    }

    private mutating func update(_ id: Int32, _ change: (inout Target) -> Void) {
        guard let index = targets.lastIndex(where: { $0.id == id }) else { return }
        change(&targets[index])
    }

    mutating func noteCommit(at time: Timestamp) {
        if links.commits.last == time.microseconds { return }
        links.commits.append(time.microseconds)
        if links.commits.count > Self.maxCommits { links.commits.removeFirst() }
    }

    mutating func note(_ reply: Reply) {
        messages += 1
        var sent: [Document] = []
        switch reply {
        case .document(let document):
            sent = [document]
            if Self.writingMethods.contains(method) { noteCommit(at: document.updateTime) }
        case .commit(let reply): noteCommit(at: reply.commitTime)
        case .batchWrite(let results):
            for result in results {
                if let time = result.result.updateTime { noteCommit(at: time) }
            }
        case .listDocuments(let rows, _): sent = rows.compactMap(\.document)
        case .batchGetDocuments(let result):
            if case .found(let document)? = result.row { sent = [document] }
        case .runQuery(let reply): sent = reply.document.map { [$0] } ?? []
        case .executePipeline(let reply):
            documents += reply.rows.count
            bytes += reply.rows.reduce(0) { $0 + $1.contents.bytes.count }
        case .empty, .beginTransaction, .runAggregationQuery, .listCollectionIDs, .partitionQuery:
            break
        }
        documents += sent.count
        for document in sent {
            bytes += document.contents.bytes.count + document.path.text.utf8.count
        }
    }

    /// The methods whose answer is the document that they have written.
    private static let writingMethods: Set = [
        RPCMethod.createDocument.rawValue, RPCMethod.updateDocument.rawValue,
    ]

    mutating func end(_ status: RPCStatus, at time: Int64) {
        duration = time - began
        outcome = status.code == .ok ? "OK" : "\(status.code)"
        if status.code != .ok { message = status.message.cut }
        guard let billed = status.billed else { return }
        (reads, writes, deletes) = (billed.reads, billed.writes, billed.deletes)
        if !billed.units.isZero { units = billed.units }
    }
}

extension String {
    /// The text as an entry keeps it, of at most ``TrafficEntry/maxTextBytes`` and an ellipsis.
    var cut: String {
        guard utf8.count > TrafficEntry.maxTextBytes else { return self }
        return String(decoding: utf8.prefix(TrafficEntry.maxTextBytes), as: UTF8.self) + "…"
    }

    /// The approximate number of bytes on the heap: up to 15 are kept in place.
    fileprivate var extent: Int { utf8.count > 15 ? utf8.count + 32 : 0 }
}
