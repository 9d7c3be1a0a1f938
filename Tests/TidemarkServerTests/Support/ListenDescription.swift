import TidemarkModel

/// Returns the messages in a short form, so a test shows the expected sequence: `ADD 1`, `a+1`,
/// `a-1`, `a deleted-1`, `a removed-1`, `CURRENT 1`, `FILTER 1=3`, and `|` for a boundary.
func brief(_ responses: [ListenResponse]) -> [String] { responses.map(brief) }

private func brief(_ response: ListenResponse) -> String {
    switch response {
    case .targetChange(let change):
        let ids = change.targetIDs.map { " \($0)" }.joined()
        let cause = change.cause.map { " cause \($0.code.rawValue)" } ?? ""
        switch change.kind {
        case .noChange: return "|"
        case .add: return "ADD" + ids + cause
        case .remove: return "REMOVE" + ids + cause
        case .current: return "CURRENT" + ids + cause
        case .reset: return "RESET" + ids + cause
        }
    case .documentChange(let change):
        return change.document.path.id + change.targetIDs.map { "+\($0)" }.joined()
            + change.removedTargetIDs.map { "-\($0)" }.joined()
    case .documentDelete(let removal):
        return removal.path.id + " deleted" + removal.removedTargetIDs.map { "-\($0)" }.joined()
    case .documentRemove(let removal):
        return removal.path.id + " removed" + removal.removedTargetIDs.map { "-\($0)" }.joined()
    case .existenceFilter(let filter):
        return "FILTER \(filter.targetID)=\(filter.count)"
            + (filter.unchangedNames == nil ? "" : " bloom")
    }
}

/// Returns the token of the last boundary.
func token(_ responses: [ListenResponse]) -> [UInt8] {
    for case .targetChange(let change) in responses.reversed() where change.targetIDs.isEmpty {
        return change.resumeToken
    }
    return []
}

func target(
    _ id: Int32, _ query: Query, from resume: ListenTarget.Resume = .fromScratch,
    expecting count: Int32? = nil, once: Bool = false
) -> ListenTarget {
    ListenTarget(id: id, .query(query), resume: resume, expectedCount: count, once: once)
}
