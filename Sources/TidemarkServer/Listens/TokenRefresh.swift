import TidemarkModel

extension ServerCore {
    /// How often quiet streams are told something; so none is quiet for longer than one and a half of
    /// it. Production sends quiet streams a boundary now and then too;
    /// how often is not documented. Source: server-protocol 1.9.11.
    static let quietInterval = Duration.seconds(60)

    /// Tells quiet streams that nothing has changed for them, with a token of now: one that stays where
    /// the last change was falls out of the log, and a resume from it is billed in full.
    ///
    /// Before the writes of a turn: all that is committed has been told.
    func refreshTokens(_ outputs: inout [Output]) {
        let uptime = environment.executor.uptime
        guard let due = nextRefresh, due <= uptime else { return }
        nextRefresh = nil
        for (id, stream) in listens.streams.sorted(by: { $0.key < $1.key })
        where !stream.targets.isEmpty {
            nextRefresh = uptime + Self.quietInterval
            // What lags is told later, and is at no boundary until then.
            if stream.isHeld || stream.lag != nil { continue }
            let readTime = takeReadTime(stream.database)
            // One that was told something since half a round is not quiet.
            if let last = stream.readTime, readTime.duration(since: last) < Self.quietInterval / 2 {
                continue
            }
            let token = resumeToken(stream.database, readTime: readTime)
            boundary(id, token, isNews: false, &outputs)
        }
    }

    /// To be called when a stream has a target.
    func keepTokensFresh() {
        if nextRefresh == nil { nextRefresh = environment.executor.uptime + Self.quietInterval }
    }
}
