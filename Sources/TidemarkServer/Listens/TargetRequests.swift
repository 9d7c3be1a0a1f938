import TidemarkModel
import TidemarkStore

/// What clients ask of their listen streams: to begin a target, to end one, and to go on.
struct TargetRequests {
    let listens: Listens
    let clocks: DatabaseClocks
    let admission: QueryAdmission
    let review: ListenReview

    // MARK: Beginning and ending

    /// Begins a target, or says why not. Whatever comes of it, there is one ADD or one REMOVE first.
    func add(
        _ request: ListenTarget, _ streamID: CallID, _ transaction: StoreTransaction,
        _ outputs: inout [Output]
    ) {
        if listens[streamID]?.lag != nil { return listens.queue(request, streamID, &outputs) }
        guard let (id, stream) = admit(request.id, streamID, &outputs) else { return }
        func refuse(_ cause: RPCStatus) { self.refuse(id, streamID, cause, &outputs) }
        guard let start = startingPoint(request.resume, stream.database) else {
            return refuse(.invalidArgument("bad resume token"))
        }
        outputs.append(streamID, .targetChange(TargetChange(.add, targetIDs: [id])))
        let beginning = outputs.count
        do {
            if case .query(let query) = request.kind {
                try query.validateWithoutVectors()
                try admission.admit(query, in: stream.database)
            }
            let target = LiveTarget(streamID: streamID, id: id, kind: request.kind)
            let scope = clocks.latestScope(stream.database, transaction)
            if let refusal = review.judge(target, stream.context, ScopedDocuments(scope)) {
                throw refusal
            }
            var opening = TargetOpening(
                listens: listens, target: target, request: request, stream: stream, scope: scope)
            if let rest = try opening.perform(from: start, &outputs) {
                let lag = StreamLag(since: stream.readTime, opening: rest)
                listens.setLag(lag, of: streamID)
                outputs.append(Output(id: streamID, event: .unfinished))
            } else {
                begin(target, request, &outputs)
            }
        } catch {
            outputs.removeSubrange(beginning...)
            refuse(RPCStatus(storeFailure: error))
        }
    }

    /// Asks the rules about every target again, and ends those that are refused now.
    func judgeAgain(_ transaction: StoreTransaction) -> [Output] {
        var outputs: [Output] = []
        for (stream, target) in listens.allTargets {
            let scope = clocks.latestScope(stream.database, transaction)
            review.judgeAgain(target, stream.context, ScopedDocuments(scope), &outputs)
        }
        return outputs
    }

    /// Answers a target that makes no sense as one that cannot be served: its stream lives on.
    func refuseUnreadable(
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
        guard let stream = listens[streamID] else { return nil }
        guard let id = targetID(asked, stream) else {
            let status = RPCStatus.invalidArgument("Target id \(asked) cannot be chosen.")
            listens.close(streamID, status, &outputs)
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
        if asked == 0 { listens.noteAssigned(id, of: streamID) }
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

    func remove(_ id: Int32, _ streamID: CallID, _ outputs: inout [Output]) {
        guard listens[streamID] != nil else { return }
        listens.remove(id, of: streamID)
        // Also for one that is not there: a client waits for one answer to each request.
        outputs.append(streamID, .targetChange(TargetChange(.remove, targetIDs: [id])))
    }

    /// - Returns: Nil for a token that no server made.
    private func startingPoint(
        _ resume: ListenTarget.Resume, _ database: DatabaseID
    ) -> TargetOpening.Start? {
        let state = clocks.states[database] ?? DatabaseState()
        switch resume {
        case .fromScratch, .token([]): return .nothing
        case .token(let bytes):
            guard let token = ResumeToken(bytes) else { return nil }
            if token.incarnation == clocks.incarnation, token.position >= state.logStart,
                token.position <= state.lastCommit
            {
                return .position(token)
            }
            return .beforeLog(token: bytes, readTime: token.readTime)
        case .readTime(let time):
            // No later commit may come before a time that a client holds to be complete.
            let latest = clocks.takeReadTime(database)
            let known = min(time, latest)
            let token = ResumeToken(
                incarnation: clocks.incarnation,
                position: min(known.microseconds, state.lastCommit), readTime: known)
            if known.microseconds >= state.logStart { return .position(token) }
            return .beforeLog(token: token.bytes, readTime: known)
        }
    }

    /// A target that is current is listened to, unless it was for once.
    private func begin(_ target: LiveTarget, _ request: ListenTarget, _ outputs: inout [Output]) {
        if request.once {
            outputs.append(
                target.streamID,
                .targetChange(TargetChange(.remove, targetIDs: [target.id])))
        } else {
            listens.add(target)
        }
    }

    // MARK: Catching up

    /// Goes on with what a stream lags behind with; its reader has room.
    func catchUp(_ streamID: CallID, _ transaction: StoreTransaction, _ outputs: inout [Output]) {
        listens.resume(streamID)
        guard let stream = listens[streamID], var lag = stream.lag else { return }
        let oldest = [lag.since, lag.opening?.readTime].compactMap { $0 }.min()
        if let oldest, !clocks.isKept(oldest, stream.database) {
            let status = RPCStatus(
                .resourceExhausted,
                "The stream was read so slowly that what it has missed is no longer kept.")
            return listens.close(streamID, status, &outputs)
        }
        let start = outputs.count
        do {
            if let opening = lag.opening, !opening.isWhole {
                let scope = clocks.pastScope(opening.readTime, stream.database, transaction)
                try lag.opening?.sendPart(scope, &outputs)
                listens.setLag(lag, of: streamID)
                outputs.append(Output(id: streamID, event: .unfinished))
                return
            }
            try tell(stream, lag, clocks.latestScope(stream.database, transaction), &outputs)
        } catch {
            outputs.removeSubrange(start...)
            return listens.close(streamID, RPCStatus(storeFailure: error), &outputs)
        }
        listens.setLag(nil, of: streamID)
        // One of them may make the stream lag again, and the others wait on.
        for request in lag.waiting { add(request, streamID, transaction, &outputs) }
    }

    /// Tells a stream all that has changed since its last snapshot, and that its new target is there.
    private func tell(
        _ stream: ListenStream, _ lag: StreamLag, _ scope: ReadScope, _ outputs: inout [Output]
    ) throws {
        if let since = lag.since {
            for target in stream.targets.values.sorted(by: { $0.id < $1.id }) {
                if try review.concerns(target, since: since, scope),
                    !review.judgeAgain(target, stream.context, ScopedDocuments(scope), &outputs)
                {
                    continue
                }
                listens.bill(try tell(target, since: since, scope, &outputs), to: target)
            }
        }
        if let opening = lag.opening {
            let target = opening.target
            // It was allowed as of the time of its first part.
            if let refusal = review.judge(target, stream.context, ScopedDocuments(scope)) {
                listens.bill(opening.reads, to: target)
                return refuse(target.id, target.streamID, refusal, &outputs)
            }
            // The filter is of what was sent, and not of what has changed since.
            opening.sendFilter(stream.database, &outputs)
            let changes = try tell(target, since: opening.readTime, scope, &outputs)
            listens.bill(opening.reads + changes, to: target)
            listens.sendCurrent(target, scope, &outputs)
            begin(target, opening.request, &outputs)
        } else if let streamID = stream.targets.values.first?.streamID {
            listens.sendBoundary(streamID, scope, &outputs)
        }
    }

    /// - Returns: What is billed for it.
    private func tell(
        _ target: LiveTarget, since time: Timestamp, _ scope: ReadScope, _ outputs: inout [Output]
    ) throws -> Int {
        let delta = try TargetDelta(of: target, since: time, scope)
        for response in delta.snapshot.responses(readTime: scope.readTime) {
            outputs.append(target.streamID, response)
        }
        return delta.snapshot.readsByTarget.values.reduce(0, +)
    }
}
