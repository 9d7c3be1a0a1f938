import TidemarkModel
import TidemarkStore

extension ServerCore {
    /// Begins a target, or says why not. Whatever comes of it, there is one ADD or one REMOVE first.
    func addTarget(
        _ request: ListenTarget, _ streamID: CallID, _ transaction: StoreTransaction,
        _ outputs: inout [Output]
    ) {
        if listens.streams[streamID]?.lag != nil { return queue(request, streamID, &outputs) }
        guard let (id, stream) = admit(request.id, streamID, &outputs) else { return }
        func refuse(_ cause: RPCStatus) { self.refuse(id, streamID, cause, &outputs) }
        guard let start = startingPoint(request.resume, stream.database) else {
            return refuse(.invalidArgument("bad resume token"))
        }
        outputs.append(streamID, .targetChange(TargetChange(.add, targetIDs: [id])))
        let beginning = outputs.count
        do {
            if case .query(let query) = request.kind {
                try query.validate()
                if query.findNearest != nil { throw RPCStatus.noVectorSearchHere }
                try admit(query, in: stream.database)
            }
            try checkRules(request.kind, stream.context, transaction)
            let target = LiveTarget(streamID: streamID, id: id, kind: request.kind)
            var opening = TargetOpening(
                core: self, target: target, request: request, stream: stream,
                scope: latestScope(stream.database, transaction))
            if let rest = try opening.perform(from: start, &outputs) {
                let lag = StreamLag(since: stream.readTime, opening: rest)
                listens.update(streamID) { $0.lag = lag }
                outputs.append(Output(id: streamID, event: .unfinished))
            } else {
                begin(target, request, &outputs)
            }
        } catch {
            outputs.removeSubrange(beginning...)
            refuse(RPCStatus(storeFailure: error))
        }
    }

    /// A target that is current is listened to, unless it was for once.
    func begin(_ target: LiveTarget, _ request: ListenTarget, _ outputs: inout [Output]) {
        if request.once {
            outputs.append(
                target.streamID,
                .targetChange(TargetChange(.remove, targetIDs: [target.id])))
        } else {
            listens.add(target)
            keepTokensFresh()
        }
    }

    /// Answers a target that makes no sense as one that cannot be served: its stream lives on.
    func refuseTarget(
        _ asked: Int32, _ cause: RPCStatus, _ streamID: CallID, _ outputs: inout [Output]
    ) {
        guard let (id, _) = admit(asked, streamID, &outputs) else { return }
        outputs.append(streamID, .targetChange(TargetChange(.add, targetIDs: [id])))
        refuse(id, streamID, cause, &outputs)
    }

    private func refuse(
        _ id: Int32, _ streamID: CallID, _ cause: RPCStatus, _ outputs: inout [Output]
    ) {
        outputs.append(
            streamID, .targetChange(TargetChange(.remove, targetIDs: [id], cause: cause)))
    }

    /// Settles a new target's id.
    ///
    /// - Returns: Nil when there can be no target: that has been said.
    private func admit(
        _ asked: Int32, _ streamID: CallID, _ outputs: inout [Output]
    ) -> (id: Int32, stream: ListenStream)? {
        guard let stream = listens.streams[streamID] else { return nil }
        guard let id = targetID(asked, stream) else {
            let status = RPCStatus.invalidArgument("Target id \(asked) cannot be chosen.")
            closeListen(streamID, status, &outputs)
            return nil
        }
        if stream.targets[id] != nil {
            let cause = RPCStatus(.alreadyExists, "Target ID already exists: \(id)")
            refuse(id, streamID, cause, &outputs)
            return nil
        }
        if stream.targets.count >= ListenRegistry.maxTargets {
            let cause = RPCStatus(.resourceExhausted, "The stream has too many targets.")
            refuse(id, streamID, cause, &outputs)
            return nil
        }
        if asked == 0 { listens.update(streamID) { $0.lastAssigned = id } }
        return (id, stream)
    }

    /// The id a target gets; nil when the client may not choose it. Once the server has chosen one on
    /// a stream, its client must not.
    private func targetID(_ asked: Int32, _ stream: ListenStream) -> Int32? {
        if asked < 0 { return nil }
        if asked > 0 { return stream.lastAssigned > 0 ? nil : asked }
        let last = max(stream.lastAssigned, stream.targets.keys.max() ?? 0)
        return last == .max ? nil : last + 1
    }

    func removeTarget(_ id: Int32, _ streamID: CallID, _ outputs: inout [Output]) {
        guard listens.streams[streamID] != nil else { return }
        listens.remove(id, of: streamID)
        listens.update(streamID) { $0.lag?.remove(id) }
        // Also for one that is not there: a client waits for one answer to each request.
        outputs.append(streamID, .targetChange(TargetChange(.remove, targetIDs: [id])))
    }

    /// What a listen knows already.
    enum StartingPoint {
        case nothing
        /// All up to a place in the log.
        case position(ResumeToken)
        /// Something that the log does not reach back to, or of other data. `token` is the client's.
        case beforeLog(token: [UInt8], readTime: Timestamp)
    }

    /// - Returns: Nil for a token that no server made.
    private func startingPoint(
        _ resume: ListenTarget.Resume, _ database: DatabaseID
    ) -> StartingPoint? {
        let state = databases[database] ?? DatabaseState()
        switch resume {
        case .fromScratch, .token([]): return .nothing
        case .token(let bytes):
            guard let token = ResumeToken(bytes) else { return nil }
            if token.incarnation == incarnation, token.position >= state.logStart,
                token.position <= state.lastCommit
            {
                return .position(token)
            }
            return .beforeLog(token: bytes, readTime: token.readTime)
        case .readTime(let time):
            // No later commit may come before a time that a client holds to be complete.
            let latest = takeReadTime(database)
            let known = min(time, latest)
            let token = ResumeToken(
                incarnation: incarnation,
                position: min(known.microseconds, state.lastCommit), readTime: known)
            if known.microseconds >= state.logStart { return .position(token) }
            return .beforeLog(token: token.bytes, readTime: known)
        }
    }
}
