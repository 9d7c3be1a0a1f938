import TidemarkModel

/// Determines the effect of a durable commit on listens, and sends it to them.
struct CommitPublisher {
    let listens: Listens

    /// Sends a durable commit to the listens. Each affected stream receives all changes of its
    /// targets, followed by the boundary of the new state. Other streams receive nothing.
    func publish(_ commit: Commit, _ outputs: inout [Output]) {
        var order: [CallID] = []
        var snapshots: [CallID: StreamSnapshot] = [:]
        func update(_ target: LiveTarget, _ change: (inout StreamSnapshot) -> Void) {
            if snapshots[target.streamID] == nil { order.append(target.streamID) }
            let empty = StreamSnapshot(isBilledByUnits: listens.isBilledByUnits(commit.database))
            change(&snapshots[target.streamID, default: empty])
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
            // A target that an earlier commit of the turn has ended receives nothing.
            for (target, rows) in commit.windows where listens.contains(target) {
                let old = target.window ?? [:]
                target.window = TargetWindow.versions(of: rows)
                if target.window == old { continue }
                update(target) {
                    TargetWindow.step(target, from: old, to: rows, changed: changed, snapshot: &$0)
                }
            }
        }
        for streamID in order {
            guard let snapshot = snapshots[streamID], !snapshot.isEmpty else { continue }
            listens.emit(snapshot, streamID: streamID, time: commit.time, outputs: &outputs)
        }
    }

    private func membership(
        of difference: DocumentDifference, in target: LiveTarget, _ commit: Commit
    ) -> (was: Bool, isNow: Bool) {
        switch target.kind {
        case .documents: (difference.before != nil, difference.after != nil)
        case .query(let query):
            (
                matches(
                    query, path: difference.path, fields: difference.before?.fields,
                    database: commit.database),
                matches(
                    query, path: difference.path, fields: difference.fieldsAfter,
                    database: commit.database)
            )
        }
    }

    /// Informs the listens that all their documents were removed.
    ///
    /// - Parameter targets: All targets of the database, with the documents that each contained.
    func clear(
        _ targets: some Sequence<(LiveTarget, [DocumentPath])>, _ time: Timestamp
    ) -> [Output] {
        var snapshots: [CallID: StreamSnapshot] = [:]
        for (target, paths) in targets where listens.contains(target) {
            if target.window != nil { target.window = [:] }
            for path in paths {
                // A removal of documents that are gone costs nothing.
                snapshots[target.streamID, default: StreamSnapshot(isBilledByUnits: false)]
                    .remove(path, changedTo: nil, from: target)
            }
        }
        var outputs: [Output] = []
        for (streamID, snapshot) in snapshots.sorted(by: { $0.key < $1.key }) {
            listens.emit(snapshot, streamID: streamID, time: time, outputs: &outputs)
        }
        return outputs
    }
}
