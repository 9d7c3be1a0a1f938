package import TidemarkModel
package import TidemarkSync

/// A violated rule.
package struct WorldViolation: Error, CustomStringConvertible {
    /// The rule that was violated.
    package let check: WorldCheck
    package let text: String

    package init(_ check: WorldCheck, _ text: String) {
        self.check = check
        self.text = text
    }

    package var description: String { "\(check): \(text)" }
}

/// A batch, and its state as far as the writer knows.
package struct WorldWrite {
    package enum State: Equatable {
        /// The process was killed before the result was known. The batch is possibly queued.
        case proposed
        case journalled
        case acknowledged(Timestamp)
        /// The server rejected the queued batch.
        case rejected(RPCStatus)
        /// The client refused the batch before queueing it.
        case refused(SyncError)
        /// The batch is being or has been deleted with its user's cache. It may have been sent
        /// before.
        case erasing, erased
    }

    package let id: String
    package let writer: WorldWriter
    /// The number of this batch among those of the writer's device, from 1.
    package let sequence: Int
    package let room: DocumentPath
    /// The documents that the batch writes.
    package let paths: Set<DocumentPath>
    /// A number that no other write has.
    package let number: Int64
    package let addsTag: Bool
    package var batch: Int64?
    package var state = State.proposed

    /// True if the write may become visible anywhere.
    var mayBeSeen: Bool {
        switch state {
        case .proposed, .journalled, .acknowledged, .erasing, .erased: true
        case .rejected, .refused: false
        }
    }
}

/// The writes of a world, and the rules for what clients may show and the server may hold.
///
/// Each batch writes a document of its own to `journal`, adds one to its writer's counter and
/// changes a room. So the server's data reveals batches that were lost, doubled, torn or reordered.
package struct WorldLedger {
    package private(set) var writes: [String: WorldWrite] = [:]
    /// The writes in the order in which they were made.
    package private(set) var order: [String] = []
    private var tagged: [DocumentPath: Int64] = [:]
    /// The writes that can be in each writer's queue.
    private var open: [WorldWriter: Set<String>] = [:]
    /// The documents of each writer's acknowledged writes.
    private var acknowledged: [WorldWriter: Set<DocumentPath>] = [:]

    package init() {}

    mutating func add(_ write: WorldWrite) {
        precondition(writes[write.id] == nil)
        writes[write.id] = write
        order.append(write.id)
        open[write.writer, default: []].insert(write.id)
        if write.addsTag { tagged[write.room, default: 0] += 1 }
    }

    mutating func set(_ id: String, _ state: WorldWrite.State, batch: Int64? = nil) {
        writes[id]!.state = state
        if let batch { writes[id]!.batch = batch }
        if case .acknowledged = state {
            acknowledged[writes[id]!.writer, default: []].formUnion(writes[id]!.paths)
        }
        switch state {
        case .proposed, .journalled, .erasing: break
        case .acknowledged, .rejected, .refused, .erased: open[writes[id]!.writer]!.remove(id)
        }
    }

    // MARK: Writers

    package var writers: Set<WorldWriter> { Set(open.keys) }

    /// Returns true if the writer may have pending writes.
    func hasPending(_ writer: WorldWriter) -> Bool { open[writer]?.isEmpty == false }

    /// Returns true if the writer may see the document with own writes on top. A view shows an
    /// acknowledged write until the listen delivers it; if users share a cache, even to the next
    /// user.
    func hasWritten(_ writer: WorldWriter, at path: DocumentPath, sharesCache: Bool) -> Bool {
        let done = acknowledged.contains { other, paths in
            (other == writer || sharesCache && other.client == writer.client)
                && paths.contains(path)
        }
        return done || open[writer]?.contains { writes[$0]!.paths.contains(path) } == true
    }

    /// Marks the writer's pending writes as being erased.
    mutating func startErasing(_ writer: WorldWriter) {
        for id in open[writer] ?? [] { writes[id]!.state = .erasing }
    }

    mutating func finishErasing(_ writer: WorldWriter) {
        for id in open[writer] ?? [] where writes[id]!.state == .erasing { set(id, .erased) }
    }

    /// Returns the ids of other writers' writes in a room that are not acknowledged yet.
    func strangers(in document: Document, to writer: WorldWriter) -> [String] {
        guard document.path.collectionID == "rooms" else { return [] }
        var ids: [Value] = []
        if let id = document.fields["w"] { ids.append(id) }
        if case .array(let tags)? = document.fields["tags"] { ids += tags }
        return ids.compactMap { value in
            guard case .string(let id) = value, let write = writes[id], write.writer != writer
            else { return nil }
            if case .acknowledged = write.state { return nil }
            return id
        }
    }

    // MARK: What is shown

    /// Checks that each shown value of a room was written there.
    ///
    /// - Parameters:
    ///   - writer: The writer who sees the document.
    ///   - isServers: True if the client shows the document as the server's. A sum over an unknown
    ///     base is an estimate: it may be lower than the tags, or count the client's own pending
    ///     writes twice.
    func trace(
        _ document: Document, to writer: WorldWriter, isServers: Bool
    ) throws(WorldViolation) {
        let fields = document.fields
        func refuse(_ what: String) -> WorldViolation {
            WorldViolation(
                .values,
                "\(document.path.text) shows \(what), which was never written: \(fields.worldText)")
        }
        if case .string(let id)? = fields["w"] {
            guard let write = writes[id], write.room == document.path, write.mayBeSeen else {
                throw refuse("w \(id), \(writes[id].map { "\($0.state)" } ?? "unknown")")
            }
            guard fields["n"] == .integer(write.number), fields["g"] == .integer(write.number % 3)
            else { throw refuse("a torn write \(id)") }
        } else if fields["n"] != nil {
            throw refuse("a number without its writer")
        }
        var tags: Int64 = 0
        if case .array(let values)? = fields["tags"] {
            tags = Int64(values.count)
            for case .string(let id) in values {
                guard let write = writes[id], write.addsTag, write.room == document.path,
                    write.mayBeSeen
                else { throw refuse("tag \(id)") }
            }
        }
        if case .integer(let total)? = fields["total"] {
            let own = isServers ? 0 : pendingTags(of: writer, at: document.path)
            guard !isServers || total >= tags, total <= tagged[document.path, default: 0] + own
            else {
                throw refuse("a total of \(total) with \(tags) tags")
            }
        }
    }

    private func pendingTags(of writer: WorldWriter, at room: DocumentPath) -> Int64 {
        let own = (open[writer] ?? []).filter { writes[$0]!.room == room && writes[$0]!.addsTag }
        return Int64(own.count)
    }

    // MARK: What the server holds in the end

    /// Checks the journal and the counters against the results that the writers received.
    ///
    /// - Parameter kept: The batches that writers keep as rejected.
    func check(journal: [Document], counters: [Document], kept: [WorldWriter: Set<Int64>]) throws {
        var found: [String: Document] = [:]
        for document in journal { found[document.path.id] = document }
        for id in order {
            try check(writes[id]!, found: found[id], kept: kept[writes[id]!.writer] ?? [])
        }
        if let stranger = found.keys.sorted().first(where: { writes[$0] == nil }) {
            throw WorldViolation(.writesRefused, "the server holds \(stranger), which nobody wrote")
        }
        var byWriter: [String: [WorldWrite]] = [:]
        for id in order where found[id] != nil {
            byWriter[writes[id]!.writer.name, default: []].append(writes[id]!)
        }
        for (writer, applied) in byWriter.sorted(by: { $0.key < $1.key }) {
            let counter = counters.first { $0.path.id == writer }?.fields["n"]
            guard counter == .integer(Int64(applied.count)) else {
                throw WorldViolation(
                    .writesCounted,
                    "\(writer) counted \(String(describing: counter)), but \(applied.count) batches "
                        + "were applied: some twice, or in part"
                )
            }
            for (earlier, later) in zip(applied, applied.dropFirst())
            where found[earlier.id]!.updateTime >= found[later.id]!.updateTime {
                throw WorldViolation(.writesOrdered, "\(later.id) was applied before \(earlier.id)")
            }
        }
    }

    private func check(_ write: WorldWrite, found: Document?, kept: Set<Int64>) throws {
        switch write.state {
        case .proposed, .erasing, .erased: return
        case .acknowledged(let time):
            guard let found else {
                throw WorldViolation(
                    .writesKept, "\(write.id) was acknowledged at \(time), and is lost")
            }
            guard found.updateTime == time else {
                throw WorldViolation(
                    .writesKept,
                    "\(write.id) was acknowledged at \(time), and is of \(found.updateTime)")
            }
        case .journalled:
            let isKept = write.batch.map(kept.contains) ?? false
            if found == nil && !isKept {
                throw WorldViolation(.writesKept, "\(write.id) was journalled, and is lost")
            }
            if found != nil && isKept {
                throw WorldViolation(
                    .writesRefused, "\(write.id) is kept as rejected, and was applied")
            }
        case .rejected(let status):
            if found != nil {
                throw WorldViolation(
                    .writesRefused, "\(write.id) was rejected (\(status)), and was applied")
            }
        case .refused(let error):
            if found != nil {
                throw WorldViolation(
                    .writesRefused, "\(write.id) was refused (\(error)), and was applied")
            }
        }
    }
}
