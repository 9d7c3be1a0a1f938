import TidemarkModel

/// The channels of refused callers, until they have read the error.
///
/// Each channel is an error and the time of its handshake. If there are too many, the oldest are
/// dropped. Repeated attempts of refused callers therefore cannot use the room of other callers.
struct RefusedChannels {
    /// The number of channels above which the oldest are dropped.
    static let capacity = 1_000
    /// The time that a channel is kept. A browser asks for its error immediately.
    static let patience = Duration.seconds(10)

    private var errors: [String: RPCStatus] = [:]
    /// The ids in the order of their handshakes, with the ids whose errors were read.
    private var order: [(sid: String, time: Duration)] = []

    var count: Int { errors.count }

    subscript(sid: String) -> RPCStatus? { errors[sid] }

    mutating func add(_ sid: String, _ error: RPCStatus, at now: Duration) {
        errors[sid] = error
        order.append((sid, now))
        // Removes a hundred ids together, because each removal moves the array.
        if order.count >= Self.capacity + 100 { remove(order.count - Self.capacity) }
    }

    /// Drops the channels older than ``patience``.
    mutating func drop(before now: Duration) {
        remove(order.prefix { now - $0.time >= Self.patience }.count)
    }

    private mutating func remove(_ oldest: Int) {
        for (sid, _) in order.prefix(oldest) { errors[sid] = nil }
        order.removeFirst(oldest)
    }

    /// Removes a channel and returns the answer that ends it; nil if there is no such channel.
    mutating func take(_ sid: String) -> String? {
        errors.removeValue(forKey: sid).map { error in
            let payload = JSONOutput.list([ErrorJSON.output(of: error)])
            let text = String(decoding: payload.data(), as: UTF8.self)
            return ChannelMachine.frame("[[1,\(text)]]")
        }
    }

    /// The answer to a refused caller's messages, which are ignored.
    static let status = ChannelMachine.frame("[1,0,0]")
}
