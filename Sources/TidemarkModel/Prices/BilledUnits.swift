/// The units in which Firestore bills a database of the Enterprise edition.
public struct BilledUnits: Hashable, Sendable, Codable {
    /// The number of read units: 4 KiB of documents or index entries that a call reads.
    public var read: Int
    /// The number of real-time update units: 4 KiB of a changed document that a listener receives.
    public var realtimeUpdate: Int
    /// The number of write units: 1 KiB of a written or deleted document or index entry.
    public var write: Int

    public init(read: Int = 0, realtimeUpdate: Int = 0, write: Int = 0) {
        self.read = read
        self.realtimeUpdate = realtimeUpdate
        self.write = write
    }

    public var isZero: Bool { read == 0 && realtimeUpdate == 0 && write == 0 }

    public static func += (left: inout BilledUnits, right: BilledUnits) {
        left.read += right.read
        left.realtimeUpdate += right.realtimeUpdate
        left.write += right.write
    }

    public static func + (left: BilledUnits, right: BilledUnits) -> BilledUnits {
        var sum = left
        sum += right
        return sum
    }

    public static func - (left: BilledUnits, right: BilledUnits) -> BilledUnits {
        BilledUnits(
            read: left.read - right.read,
            realtimeUpdate: left.realtimeUpdate - right.realtimeUpdate,
            write: left.write - right.write)
    }
}
