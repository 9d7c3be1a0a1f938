/// The streams that both sides of an HTTP/2 connection have ended, and that the client has not
/// reset. A reset that the client sends before it knows of the end has no effect.
struct EndedStreams: Equatable {
    /// The maximum number of ended streams. The oldest one is forgotten first.
    static let maxEnded = 1_000
    /// The maximum number of streams that only the client has ended. At this number all of them are
    /// forgotten.
    static let maxHalfEnded = 20_000

    /// The streams that only the client has ended.
    private var halfEnded: Set<UInt32> = []
    private var ended: Set<UInt32> = []
    /// The last ended streams, as a ring.
    private var last: [UInt32] = []
    private var oldest = 0

    mutating func clientEnded(_ stream: UInt32) {
        if halfEnded.count >= Self.maxHalfEnded { halfEnded.removeAll() }
        halfEnded.insert(stream)
    }

    mutating func serverEnded(_ stream: UInt32) {
        guard halfEnded.remove(stream) != nil else { return }
        ended.insert(stream)
        if last.count < Self.maxEnded {
            last.append(stream)
        } else {
            ended.remove(last[oldest])
            last[oldest] = stream
            oldest = (oldest + 1) % Self.maxEnded
        }
    }

    func contains(_ stream: UInt32) -> Bool { ended.contains(stream) }

    /// Records the client's reset of a stream.
    mutating func wasReset(_ stream: UInt32) {
        halfEnded.remove(stream)
        ended.remove(stream)
    }
}
