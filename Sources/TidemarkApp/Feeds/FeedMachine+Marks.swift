import Tidemark

// The marks: moved and shown at once, then stored.

extension FeedMachine {
    mutating func move(_ move: Move, _ now: Timestamp, _ effects: inout [Effect]) {
        guard opening == .open else {
            movesBeforeOpening.append(move)
            return
        }
        guard let moved = moveMark(move, now) else {
            waiting.append(Waiting(call: move.call, outcome: .moved(nil)))
            return
        }
        var call = Waiting(call: move.call, outcome: .moved(moved))
        defer { waiting.append(call) }
        if case .ignored = moved { return }
        call.isSaving = true
        effects.append(.save(marks, move.call))
        // Without a mark, items come back that are above and between those of the window.
        if moved == .reset { readAnew() }
        if let action = marks.action { progress.cut(action: action) }
        window.apply(marks)
        mustReadBelow = window.hasMore
        forgetCount()
        isChanged = true
    }

    private mutating func moveMark(_ move: Move, _ now: Timestamp) -> Marks.Move? {
        let serverNow = serverTime.estimate(deviceNow: now) ?? progress.readTime
        switch move.target {
        case .time(let time): return marks.move(move.name, to: time, serverNow: serverNow)
        case .milliseconds(let milliseconds):
            return marks.move(move.name, toMilliseconds: milliseconds, serverNow: serverNow)
        case .newest:
            return shown.rows.first.map { marks.move(move.name, to: $0.time, serverNow: serverNow) }
        }
    }

    mutating func saved(_ call: CallID) {
        guard let index = waiting.firstIndex(where: { $0.call == call }) else { return }
        waiting[index].isSaving = false
    }

    mutating func notSaved(_ call: CallID, _ error: FirestoreError, _ effects: inout [Effect]) {
        guard let index = waiting.firstIndex(where: { $0.call == call }) else { return }
        waiting.remove(at: index)
        effects.append(.finish(call, .failed(error)))
    }
}
