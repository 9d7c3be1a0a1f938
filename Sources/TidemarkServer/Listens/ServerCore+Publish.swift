import TidemarkModel

extension ServerCore {
    /// Tells the listens of a commit that is durable: to each stream it concerns, all that changed for
    /// its targets, then the boundary of the new state. The others hear nothing.
    func publish(_ commit: Commit, _ outputs: inout [Output]) {
        var order: [CallID] = []
        var snapshots: [CallID: StreamSnapshot] = [:]
        func update(_ target: LiveTarget, _ change: (inout StreamSnapshot) -> Void) {
            if snapshots[target.streamID] == nil { order.append(target.streamID) }
            change(&snapshots[target.streamID, default: StreamSnapshot()])
        }
        for difference in commit.changes {
            let targets = listens.targets(near: difference.path, in: commit.database)
            if targets.isEmpty { continue }
            for target in targets where target.window == nil {
                let (was, isNow) = membership(of: difference, in: target, commit)
                if isNow, let document = difference.after {
                    update(target) { $0.add(document, to: target) }
                } else if was {
                    update(target) {
                        $0.remove(difference.path, changedTo: difference.after, from: target)
                    }
                }
            }
        }
        if !commit.windows.isEmpty {
            let changed = Dictionary(
                commit.changes.map { ($0.path, $0.after) }, uniquingKeysWith: { $1 })
            for (target, rows) in commit.windows {
                let old = target.window ?? [:]
                target.window = Self.window(rows)
                if target.window == old { continue }
                update(target) { Self.step(target, from: old, to: rows, changed, &$0) }
            }
        }
        for streamID in order {
            guard let snapshot = snapshots[streamID], !snapshot.isEmpty else { continue }
            emit(snapshot, streamID, commit.time, &outputs)
        }
    }

    private func membership(
        of difference: DocumentDifference, in target: LiveTarget, _ commit: Commit
    ) -> (was: Bool, isNow: Bool) {
        switch target.kind {
        case .documents: (difference.before != nil, difference.after != nil)
        case .query(let query):
            (
                matches(query, difference.path, difference.before?.fields, commit.database),
                matches(query, difference.path, difference.fieldsAfter, commit.database)
            )
        }
    }

    static func window(_ rows: [Document]) -> [DocumentPath: Timestamp] {
        Dictionary(rows.map { ($0.path, $0.updateTime) }, uniquingKeysWith: { $1 })
    }

    /// From one window of a query to the next.
    ///
    /// - Parameter changed: The documents that have changed, as they are now; nil for removed ones.
    static func step(
        _ target: LiveTarget, from old: [DocumentPath: Timestamp], to rows: [Document],
        _ changed: [DocumentPath: Document?], _ snapshot: inout StreamSnapshot
    ) {
        let now = Set(rows.map(\.path))
        for path in old.keys.filter({ !now.contains($0) }).sorted() {
            if let document = changed[path] {
                snapshot.remove(path, changedTo: document, from: target)
            } else {
                snapshot.pushOut(path, of: target)
            }
        }
        for document in rows where old[document.path] != document.updateTime {
            snapshot.add(document, to: target)
        }
    }

    func emit(
        _ snapshot: StreamSnapshot, _ streamID: CallID, _ time: Timestamp,
        _ outputs: inout [Output]
    ) {
        guard let stream = listens.streams[streamID] else { return }
        if stream.isHeld || stream.lag != nil { return holdBack(streamID, &outputs) }
        for response in snapshot.responses(readTime: time) { outputs.append(streamID, response) }
        // Commits of one batch are told one after the other, and a stream may be cut between them:
        // the token reaches no further than this one, though all of them are made.
        let token = ResumeToken(
            incarnation: incarnation, position: time.microseconds, readTime: time)
        boundary(streamID, token, &outputs)
        for (id, reads) in snapshot.readsByTarget {
            if let target = stream.targets[id] { bill(reads, to: target) }
        }
    }

    /// Says that all targets of the stream are as of the token's time.
    func boundary(
        _ streamID: CallID, _ token: ResumeToken, isNews: Bool = true, _ outputs: inout [Output]
    ) {
        outputs.append(
            streamID,
            .targetChange(
                TargetChange(.noChange, resumeToken: token.bytes, readTime: token.readTime)))
        listens.update(streamID) {
            $0.readTime = token.readTime
            if isNews { $0.newsTime = token.readTime }
        }
    }

    /// For the newest state, of which everything has been told.
    func resumeToken(_ database: DatabaseID, readTime: Timestamp) -> ResumeToken {
        ResumeToken(
            incarnation: incarnation, position: databases[database]?.lastCommit ?? 0,
            readTime: readTime)
    }
}

extension [Output] {
    mutating func append(_ id: CallID, _ response: ListenResponse) {
        append(Output(id: id, event: .listen(response)))
    }
}
