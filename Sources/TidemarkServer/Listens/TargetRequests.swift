import TidemarkModel
import TidemarkStore

/// Performs the requests of clients on their listen streams: adds and removes targets, and
/// continues after a pause.
struct TargetRequests {
    let listens: Listens
    let clocks: DatabaseClocks
    let admission: QueryAdmission
    let review: ListenReview

    // MARK: Beginning and ending

    /// Adds a target, or refuses it. In both cases, the first message is a single ADD or REMOVE.
    func add(
        _ request: ListenTarget, streamID: CallID, transaction: StoreTransaction,
        outputs: inout [Output]
    ) {
        if listens[streamID]?.lag != nil {
            return listens.queue(request, streamID: streamID, outputs: &outputs)
        }
        guard let (id, stream) = admit(request.id, streamID: streamID, outputs: &outputs) else {
            return
        }
        func refuse(_ cause: RPCStatus) {
            self.refuse(id, streamID: streamID, cause: cause, outputs: &outputs)
        }
        guard listens.hasRoom(for: request.kind) else {
            return refuse(
                RPCStatus(
                    .resourceExhausted, "The targets of all streams name too many documents."))
        }
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
            let target = LiveTarget(
                streamID: streamID, id: id, kind: request.kind, label: listens.label(of: stream))
            let scope = clocks.latestScope(stream.database, transaction)
            if let refusal = review.judge(
                target, context: stream.context, documents: ScopedDocuments(scope))
            {
                throw refusal
            }
            var opening = TargetOpening(
                listens: listens, target: target, request: request, stream: stream, scope: scope)
            if let rest = try opening.perform(from: start, &outputs) {
                let lag = StreamLag(since: stream.readTime, opening: rest)
                listens.setLag(lag, of: streamID)
                outputs.append(Output(id: streamID, event: .unfinished))
            } else {
                begin(target, request: request, outputs: &outputs)
            }
        } catch {
            outputs.removeSubrange(beginning...)
            refuse(RPCStatus(storeFailure: error))
        }
    }

    /// Checks the rules again for every target, and ends the targets that are now refused.
    func judgeAgain(_ transaction: StoreTransaction) -> [Output] {
        var outputs: [Output] = []
        for (stream, target) in listens.allTargets {
            let scope = clocks.latestScope(stream.database, transaction)
            review.judgeAgain(
                target, context: stream.context, documents: ScopedDocuments(scope),
                outputs: &outputs)
        }
        return outputs
    }

    /// Refuses a target that cannot be decoded, like a target that cannot be served. Its stream
    /// stays open.
    func refuseUnreadable(
        _ asked: Int32, cause: RPCStatus, streamID: CallID, outputs: inout [Output]
    ) {
        guard let (id, _) = admit(asked, streamID: streamID, outputs: &outputs) else { return }
        outputs.append(streamID, .targetChange(TargetChange(.add, targetIDs: [id])))
        refuse(id, streamID: streamID, cause: cause, outputs: &outputs)
    }

    private func refuse(
        _ id: Int32, streamID: CallID, cause: RPCStatus, outputs: inout [Output]
    ) {
        outputs.append(
            streamID, .targetChange(TargetChange(.remove, targetIDs: [id], cause: cause)))
    }

    /// Chooses the id of a new target.
    ///
    /// - Returns: The id and the stream; nil if there can be no target. The client was then
    ///   informed.
    private func admit(
        _ asked: Int32, streamID: CallID, outputs: inout [Output]
    ) -> (id: Int32, stream: ListenStream)? {
        guard let stream = listens[streamID] else { return nil }
        guard let id = targetID(asked, stream) else {
            let status = RPCStatus.invalidArgument("Target id \(asked) is not allowed.")
            listens.close(streamID, status: status, outputs: &outputs)
            return nil
        }
        if stream.targets[id] != nil {
            let cause = RPCStatus(.alreadyExists, "Target ID already exists: \(id)")
            refuse(id, streamID: streamID, cause: cause, outputs: &outputs)
            return nil
        }
        if stream.targets.count >= ListenRegistry.maxTargets {
            let cause = RPCStatus(.resourceExhausted, "The stream has too many targets.")
            refuse(id, streamID: streamID, cause: cause, outputs: &outputs)
            return nil
        }
        if asked == 0 { listens.noteAssigned(id, of: streamID) }
        return (id, stream)
    }

    /// Returns the id of a new target; nil if the client must not choose this id. After the server
    /// has chosen an id on a stream, the client must not choose ids.
    private func targetID(_ asked: Int32, _ stream: ListenStream) -> Int32? {
        if asked < 0 { return nil }
        if asked > 0 { return stream.lastAssigned > 0 ? nil : asked }
        let last = max(stream.lastAssigned, stream.targets.keys.max() ?? 0)
        return last == .max ? nil : last + 1
    }

    func remove(_ id: Int32, streamID: CallID, outputs: inout [Output]) {
        guard listens[streamID] != nil else { return }
        listens.remove(id, of: streamID)
        // An unknown target is also answered, because a client waits for one answer to each
        // request.
        outputs.append(streamID, .targetChange(TargetChange(.remove, targetIDs: [id])))
    }

    /// - Returns: The start; nil if no server has issued the token.
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
            // No later commit may have a time before a time at which the client's data are
            // complete.
            let latest = clocks.takeReadTime(database)
            let known = min(time, latest)
            let token = ResumeToken(
                incarnation: clocks.incarnation,
                position: min(known.microseconds, state.lastCommit), readTime: known)
            if known.microseconds >= state.logStart { return .position(token) }
            return .beforeLog(token: token.bytes, readTime: known)
        }
    }

    /// Listens to a current target, unless the client requested it only once.
    private func begin(_ target: LiveTarget, request: ListenTarget, outputs: inout [Output]) {
        if request.once {
            outputs.append(
                target.streamID,
                .targetChange(TargetChange(.remove, targetIDs: [target.id])))
        } else {
            listens.add(target)
        }
    }

    // MARK: Catching up

    /// Continues a lagging stream whose reader has room.
    func catchUp(_ streamID: CallID, transaction: StoreTransaction, outputs: inout [Output]) {
        listens.resume(streamID)
        guard let stream = listens[streamID], var lag = stream.lag else { return }
        let oldest = [lag.since, lag.opening?.readTime].compactMap { $0 }.min()
        if let oldest, !clocks.isKept(oldest, stream.database) {
            let status = RPCStatus(
                .resourceExhausted,
                "The stream was read too slowly: the server no longer has the missed changes.")
            return listens.close(streamID, status: status, outputs: &outputs)
        }
        let start = outputs.count
        do {
            if let opening = lag.opening, !opening.isWhole {
                let scope = clocks.pastScope(
                    opening.readTime, database: stream.database, transaction: transaction)
                try lag.opening?.sendPart(scope, &outputs)
                listens.setLag(lag, of: streamID)
                outputs.append(Output(id: streamID, event: .unfinished))
                return
            }
            try notify(
                stream, lag: lag, scope: clocks.latestScope(stream.database, transaction),
                outputs: &outputs)
        } catch {
            outputs.removeSubrange(start...)
            return listens.close(
                streamID, status: RPCStatus(storeFailure: error), outputs: &outputs)
        }
        listens.setLag(nil, of: streamID)
        // A target can make the stream lag again. The targets after it then wait again.
        for request in lag.waiting {
            add(request, streamID: streamID, transaction: transaction, outputs: &outputs)
        }
    }

    /// Sends a stream all changes since its last snapshot, and completes its new target.
    private func notify(
        _ stream: ListenStream, lag: StreamLag, scope: ReadScope, outputs: inout [Output]
    ) throws {
        if let since = lag.since {
            for target in stream.targets.values.sorted(by: { $0.id < $1.id }) {
                if try review.concerns(target, since: since, scope),
                    !review.judgeAgain(
                        target, context: stream.context, documents: ScopedDocuments(scope),
                        outputs: &outputs)
                {
                    continue
                }
                listens.bill(
                    try notify(
                        target, since: since, stream: stream, scope: scope, outputs: &outputs),
                    to: target)
            }
        }
        if let opening = lag.opening {
            let target = opening.target
            // The earlier check was for the time of the first part.
            if let refusal = review.judge(
                target, context: stream.context, documents: ScopedDocuments(scope))
            {
                listens.bill(opening.usage, to: target, part: .start)
                return refuse(
                    target.id, streamID: target.streamID, cause: refusal, outputs: &outputs)
            }
            // The filter counts the sent documents, without later changes.
            opening.sendFilter(stream.database, &outputs)
            var usage = opening.usage
            usage += try notify(
                target, since: opening.readTime, stream: stream, scope: scope, outputs: &outputs)
            listens.bill(usage, to: target, part: .start)
            listens.sendCurrent(target, scope: scope, outputs: &outputs)
            begin(target, request: opening.request, outputs: &outputs)
        } else if let streamID = stream.targets.values.first?.streamID {
            listens.sendBoundary(streamID, scope: scope, outputs: &outputs)
        }
    }

    /// - Returns: The bill.
    private func notify(
        _ target: LiveTarget, since time: Timestamp, stream: ListenStream, scope: ReadScope,
        outputs: inout [Output]
    ) throws -> Usage {
        let delta = try TargetDelta(
            of: target, since: time, scope,
            isBilledByUnits: listens.isBilledByUnits(stream.database))
        for response in delta.snapshot.responses(readTime: scope.readTime) {
            outputs.append(target.streamID, response)
        }
        return delta.usage
    }
}
