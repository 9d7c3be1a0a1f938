public import TidemarkModel

/// Writes that were made together and wait for the server.
public struct PendingWrite: Hashable, Sendable {
    /// The number in the queue; lower numbers are sent first.
    public var batch: Int64
    /// The time of this device's clock.
    public var time: Timestamp
    public var mutations: [Mutation]
    /// True if the write is being sent to the server now.
    public var isBeingSent: Bool
}

/// Writes that the server refused. They are stored until the app decides.
public struct RejectedWrite: Hashable, Sendable {
    public var batch: Int64
    public var time: Timestamp
    /// The mutations; empty if they could not be read back from the disk.
    public var mutations: [Mutation]
    public var rejectedAt: Timestamp
    /// The reason for the refusal.
    public var reason: RPCStatus
}

/// The queue in figures.
public struct WriteQueueState: Hashable, Sendable {
    public var pending: Int
    /// The time of the oldest waiting write; nil if no write waits.
    public var oldest: Timestamp?
    public var rejected: Int
}
