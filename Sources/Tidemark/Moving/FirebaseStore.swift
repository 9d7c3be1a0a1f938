public import Foundation

/// The store of FirebaseFirestore on this device, as it was when it was read: the writes that were
/// accepted and not sent.
///
/// It is read, and nothing in it is changed. Read it in an app that has no FirebaseFirestore any
/// more: one that runs beside it sends its writes itself.
public struct FirebaseStore: Sendable {
    /// Where it was read from.
    public let folder: URL
    /// What waits to be sent: by user, and a user's in the order in which they were made.
    public let batches: [Batch]
    /// Whether a file ends in the middle of a record, as after a kill or a loss of power in the
    /// middle of a write. What that record held is not among the batches, and FirebaseFirestore would
    /// not have found it either. Where the file was cut off later, what stood behind is missing too.
    public let hasTornEnd: Bool

    /// Reads the writes that wait in a store. Costs no reads; takes the time of reading a few files
    /// of some megabytes, whatever the size of the cache beside them, so it is best not done on the
    /// main thread.
    ///
    /// - Parameter folder: As ``folder(projectID:databaseID:app:)`` finds it.
    /// - Throws: ``FirebaseStoreError``: the store is then as it was, and can be read again.
    public init(folder: URL) throws(FirebaseStoreError) {
        let (rows, hasTornEnd) = try StoreFolder(folder)
            .rows(under: [StoreKey.mutations, StoreKey.queues, StoreKey.version])
        let present = rows.present
        let acknowledged = try Acknowledged(present)
        var batches: [Batch] = []
        for (key, value) in present where key.starts(with: StoreKey.mutations) {
            guard let (user, number) = StoreKey.mutation(key) else {
                throw .corrupted(folder.lastPathComponent, "a key cannot be read.")
            }
            if acknowledged.contains(number, of: user) { continue }
            batches.append(Batch(user: user, number: number, value))
        }
        self.folder = folder
        self.batches = batches
        self.hasTornEnd = hasTornEnd
    }

    /// Whose writes wait; nil for those that were made while nobody was signed in. Each once.
    public var users: [String?] {
        batches.map(\.user).reduce(into: []) { users, user in
            if !users.contains(where: { Self.isSame($0, user) }) { users.append(user) }
        }
    }

    /// The writes of one user, in the order in which they were made.
    ///
    /// - Parameter user: The id by Firebase Authentication; nil for those of nobody.
    public func batches(of user: String?) -> [Batch] {
        batches.filter { Self.isSame($0.user, user) }
    }

    static func isSame(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.hasSameBytes(as: other)
    }
}

/// The batches that FirebaseFirestore's first versions kept although they were acknowledged: those
/// up to a number. Later versions removed them when they first opened such a store, and give the
/// numbers again.
private struct Acknowledged {
    /// The form of the store since which none is left.
    private static let firstWithout = 5

    private var last: [ByteString: Int32] = [:]

    init(_ rows: [(key: [UInt8], value: [UInt8])]) throws(FirebaseStoreError) {
        let version = rows.first { $0.key.starts(with: StoreKey.version) }
            .flatMap { Int(String(decoding: $0.value, as: UTF8.self)) }
        if let version, version >= Self.firstWithout { return }
        for (key, value) in rows where key.starts(with: StoreKey.queues) {
            guard let user = StoreKey.queue(key), let number = Self.number(in: value) else {
                throw .corrupted("mutation_queue", "a row cannot be read.")
            }
            last[ByteString(user)] = number
        }
    }

    func contains(_ number: Int32, of user: String) -> Bool {
        last[ByteString(user)].map { number <= $0 } ?? false
    }

    /// Field 1 of the row of a queue; nil for what cannot be read.
    private static func number(in value: [UInt8]) -> Int32? {
        value.withUnsafeBufferPointer { buffer in
            var reader = WireReader(buffer)
            var number: Int32 = 0
            do throws(CodecError) {
                while !reader.isAtEnd {
                    let tag = try reader.tag()
                    if tag == 1 << 3 | 0 {
                        number = Int32(truncatingIfNeeded: try reader.varint())
                    } else {
                        try reader.skip(tag)
                    }
                }
            } catch { return nil }
            return number
        }
    }
}
