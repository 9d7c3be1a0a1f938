/// The rows of journeys 4, made from a history.
struct MessagesScenarios {
    /// The divisor of all sizes: 1, or 10 for a quick look.
    var scale = 1
    let history: History

    var rows: [any ScenarioRow] {
        let arriving = 16 / min(scale, 4)
        return [
            OpenConversationRow(history.stretched(to: 1_000 / scale), new: 50 / scale),
            PagingRow(history.stretched(to: 1_000 / scale + arriving), arriving: arriving),
            PagesFromDiskRow(history.stretched(to: 1_000 / scale + arriving), arriving: arriving),
            ConversationsRow(history.stretched(to: max(60, 220 / scale))),
            MemoryRow(history.stretched(to: 1_000 / scale)),
            RelativeTimesRow(history.stretched(to: 1_000 / scale)), RetryRow(),
            SendRow(history.stretched(to: 60)), IndexRow(),
        ]
    }

    /// The server's time in seconds since 1970. No event of any row is later.
    var clock: Int64 { max(history.end, history.events.map(\.authoredAt).max() ?? 0) }
}
