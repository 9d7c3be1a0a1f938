public import TidemarkModel

/// Writes that were made together and wait for the server.
public struct PendingWrite: Hashable, Sendable {
    /// Its number in the queue; lower ones are sent first.
    public var batch: Int64
    /// By this device's clock.
    public var time: Timestamp
    public var mutations: [Mutation]
    /// Whether it is under way to the server now.
    public var isBeingSent: Bool
}

/// Writes that the server refused, kept until the app decides.
public struct RejectedWrite: Hashable, Sendable {
    public var batch: Int64
    public var time: Timestamp
    /// Empty for one that could not be read back from the disk.
    public var mutations: [Mutation]
    public var rejectedAt: Timestamp
    /// Why it was refused.
    public var reason: RPCStatus
}

/// The queue in figures.
public struct WriteQueueState: Hashable, Sendable {
    public var pending: Int
    /// When the oldest that waits was made; nil when none does.
    public var oldest: Timestamp?
    public var rejected: Int
}
