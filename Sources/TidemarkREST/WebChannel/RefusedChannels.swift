import TidemarkModel

/// Channels of callers who were refused, until they have read why.
///
/// Each is an error and the time of its handshake. The oldest are forgotten when there are too many: a
/// caller who is refused again and again cannot take the place of others, nor of what is kept for them.
struct RefusedChannels {
    /// Beyond this the oldest is forgotten.
    static let capacity = 1_000
    /// A browser asks for its error at once.
    static let patience = Duration.seconds(10)

    private var errors: [String: RPCStatus] = [:]
    /// The ids in the order of their handshakes, those that were read too.
    private var order: [(sid: String, time: Duration)] = []

    var count: Int { errors.count }

    subscript(sid: String) -> RPCStatus? { errors[sid] }

    mutating func add(_ sid: String, _ error: RPCStatus, at now: Duration) {
        errors[sid] = error
        order.append((sid, now))
        // Removed by the hundred, so that a removal costs little.
        if order.count >= Self.capacity + 100 { remove(order.count - Self.capacity) }
    }

    /// Forgets those whose time is over.
    mutating func drop(before now: Duration) {
        remove(order.prefix { now - $0.time >= Self.patience }.count)
    }

    private mutating func remove(_ oldest: Int) {
        for (sid, _) in order.prefix(oldest) { errors[sid] = nil }
        order.removeFirst(oldest)
    }

    /// The answer to a back channel, by which the channel is over; nil for no such channel.
    mutating func take(_ sid: String) -> String? {
        errors.removeValue(forKey: sid).map { error in
            let payload = JSONOutput.list([ErrorJSON.output(of: error)])
            let text = String(decoding: payload.data(), as: UTF8.self)
            return ChannelMachine.frame("[[1,\(text)]]")
        }
    }

    /// The answer to what a refused caller sends: nothing is kept of it.
    static let status = ChannelMachine.frame("[1,0,0]")
}
