extension History {
    /// Returns the newest `count` events. If there are fewer, copies of the whole history with
    /// other ids are added before it. The result is the same for the same history.
    func stretched(to count: Int) -> [HistoryEvent] {
        precondition(count > 0 && !events.isEmpty)
        let span = end - start + 1
        let copies = (count + events.count - 1) / events.count
        let all = (0..<copies).reversed().flatMap { copy in
            copy == 0 ? events : events.map { $0.moved(back: span * Int64(copy), copy: copy) }
        }
        return Array(all.suffix(count))
    }

    /// The seven days with the most events, among the days after the first quarter of all events.
    var busiestWeek: Range<Int> {
        let week: Int64 = 7 * 86_400
        var best = events.indices.suffix(1)
        var first = events.count / 4
        for end in events.indices.dropFirst(first) {
            while events[end].committedAt - events[first].committedAt >= week { first += 1 }
            if end + 1 - first > best.count { best = first..<(end + 1) }
        }
        return best
    }
}

extension HistoryEvent {
    fileprivate func moved(back seconds: Int64, copy: Int) -> HistoryEvent {
        HistoryEvent(
            id: "\(id)-\(copy)", author: author, authoredAt: authoredAt - seconds,
            committedAt: committedAt - seconds, text: text)
    }
}
