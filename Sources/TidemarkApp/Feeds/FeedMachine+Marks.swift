import Tidemark

// Marks are moved and shown immediately, then stored, and sent to the user's other devices.

extension FeedMachine {
    mutating func move(_ move: Move, now: DeviceTime, effects: inout [Effect]) {
        guard opening == .open else {
            movesBeforeOpening.append(move)
            return
        }
        guard let moved = moveMark(move, now) else {
            waiting.append(Waiting(call: move.call, outcome: .moved(nil)))
            return
        }
        notify(.moved(move.name, moved), &effects)
        var call = Waiting(call: move.call, outcome: .moved(moved))
        defer { waiting.append(call) }
        if case .ignored = moved { return }
        call.isSaving = true
        effects.append(.save(marks, move.call))
        #if TIDEMARK_DEFECTS
            if settings.rules.defects.contains(.marksNotStored) {
                effects.removeLast()
                call.isSaving = false
            }
        #endif
        // A mark can be ahead of the server's time, so the machine sends the mark only when it
        // knows that time.
        if serverNow(at: now) != nil { share([move.name], &effects) }
        // After a reset, items return that are above and between those of the window.
        if moved == .reset { disk.readAnew() }
        showMarks()
    }

    private func share(
        _ names: Set<Marks.Name>, isClear: Bool = true, _ effects: inout [Effect]
    ) {
        var shared = SharedMarks()
        if settings.sharesMarks, names.contains(.action) { shared.action = marks.action }
        if settings.sharesConsumption, names.contains(.consumption) {
            shared.consumption = marks.consumption
        }
        if shared == SharedMarks() { return }
        shared.isClear = isClear && shared.action != nil
        effects.append(.share(shared))
    }

    /// The server's time if it is known; nil before the first answer to this feed.
    private func serverNow(at now: DeviceTime) -> Timestamp? {
        serverTime.estimate(at: now) ?? progress.lastReadTime
    }

    /// Takes the server's time. A mark that was moved before this time was known can be ahead of
    /// it, and would hide future items. It moves back, and is sent to the other devices only now.
    mutating func learn(
        _ readTime: Timestamp, at now: DeviceTime, _ effects: inout [Effect]
    ) {
        let isFirst = serverNow(at: now) == nil
        serverTime.learn(readTime, at: now)
        guard isFirst else { return }
        if marks.clamp(to: readTime) {
            effects.append(.save(marks, nil))
            disk.readAnew()
            showMarks()
        }
        share([.action, .consumption], &effects)
    }

    private mutating func moveMark(_ move: Move, _ now: DeviceTime) -> Marks.Move? {
        var serverNow = self.serverNow(at: now)
        #if TIDEMARK_DEFECTS
            if settings.rules.defects.contains(.deviceClockTrusted) { serverNow = now.wall }
        #endif
        switch move.target {
        case .time(let time): return marks.move(move.name, to: time, serverNow: serverNow)
        case .milliseconds(let milliseconds):
            return marks.move(move.name, toMilliseconds: milliseconds, serverNow: serverNow)
        case .newest:
            return shown.rows.first.map {
                marks.move(move.name, to: $0.time, serverNow: serverNow)
            }
        }
    }

    private mutating func showMarks() {
        if let action = marks.action { progress.cut(action: action) }
        disk.show(marks)
        isChanged = true
    }

    /// True if a sync must still read the marks of the user's other devices. A sync without a call,
    /// or one that joins a listener, uses the snapshot of the marks' listener.
    func lacksMarks(_ run: SyncRun) -> Bool {
        settings.sharesMarks && !run.hasMarks
            && !((run.calls.isEmpty || run.joinsListener) && live.hasMarks)
    }

    mutating func findMarks(_ run: SyncRun, _ effects: inout [Effect]) {
        sync?.stage = .marks
        let mayWait = run.calls.isEmpty || run.joinsListener && live.isOpeningMarks
        if mayWait, !run.readsMarksAgain, live.marks != nil {
            let wait = awaitListener(&effects)
            sync?.marksWait = wait
        } else {
            readMarks(&effects)
        }
    }

    private mutating func readMarks(_ effects: inout [Effect]) {
        begin(.sharedMarks, &effects)
        effects.append(.readShared)
    }

    /// Continues after the first snapshot of the marks' listener, or reads the marks if there is
    /// none.
    mutating func endMarksWait(_ effects: inout [Effect]) {
        guard let number = sync?.marksWait else { return }
        sync?.marksWait = nil
        effects.append(.unlisten(number))
        if live.hasMarks { readNext(&effects) } else { readMarks(&effects) }
    }

    mutating func listenerOverdue(
        _ number: Int, error: FirestoreError, effects: inout [Effect]
    ) {
        guard let run = sync, run.marksWait == number || run.changesWait == number else { return }
        failed(.page, error: error, effects: &effects)
    }

    mutating func sharedRead(
        _ shared: SharedMarks, readTime: Timestamp, now: DeviceTime, effects: inout [Effect]
    ) {
        takeShared(shared, readTime: readTime, now: now, effects: &effects)
        guard sync?.stage == .marks else { return }
        // A write of this device came in between. The next answer contains the marks of other
        // devices.
        let isOwnAlone = shared.isOwnAlone && sync?.readsMarksAgain == false
        sync?.readsMarksAgain = isOwnAlone
        sync?.hasMarks = !isOwnAlone
        sync?.result.reads += 1
        readNext(&effects)
    }

    /// Takes the marks of another device. The higher mark wins, limited by the server's time,
    /// independent of that device's clock. A negative mark is ignored. If the shared mark is lower
    /// and is a text, which the server cannot raise, it is written again.
    mutating func takeShared(
        _ shared: SharedMarks?, readTime: Timestamp, now: DeviceTime,
        effects: inout [Effect]
    ) {
        learn(readTime, at: now, &effects)
        guard let shared else { return }
        var hasMoved = take(.action, mark: shared.action, readTime: readTime, effects: &effects)
        if settings.sharesConsumption {
            hasMoved =
                take(.consumption, mark: shared.consumption, readTime: readTime, effects: &effects)
                || hasMoved
        }
        if shared.isText, let own = marks.action, let theirs = shared.action, theirs < own {
            share([.action], isClear: false, &effects)
        }
        if !hasMoved { return }
        effects.append(.save(marks, nil))
        showMarks()
    }

    private mutating func take(
        _ name: Marks.Name, mark: Timestamp?, readTime: Timestamp, effects: inout [Effect]
    ) -> Bool {
        guard let mark, mark >= .epoch else { return false }
        let moved = marks.move(name, to: mark, serverNow: readTime)
        if case .ignored = moved { return false }
        notify(.received(moved), &effects)
        return true
    }

    mutating func saved(_ call: CallID?) {
        guard let index = waiting.firstIndex(where: { $0.call == call }) else { return }
        waiting[index].isSaving = false
    }

    mutating func notSaved(_ call: CallID?, error: FirestoreError, effects: inout [Effect]) {
        mustSaveMarks = true
        guard let index = waiting.firstIndex(where: { $0.call == call }) else { return }
        effects.append(.finish(waiting.remove(at: index).call, .failed(error)))
    }

    mutating func notify(_ event: FeedEvent, _ effects: inout [Effect]) {
        counters.count(event)
        effects.append(.notify(event))
    }
}
