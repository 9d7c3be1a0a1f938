public import Foundation

/// The store of FirebaseFirestore on this device at the time of the read: the writes that were
/// accepted and not sent.
///
/// Tidemark reads the store and changes nothing in it. Read it in an app that no longer contains
/// FirebaseFirestore: otherwise FirebaseFirestore sends the writes itself.
public struct FirebaseStore: Sendable {
    /// The folder of the store.
    public let folder: URL
    /// The batches that wait to be sent: grouped by user, and for each user in the order of their
    /// creation.
    public let batches: [Batch]
    /// True if a file ends within a record, for example after a kill or a loss of power during a
    /// write. The contents of that record are not among the batches, and FirebaseFirestore would
    /// not have found them either. If the file was truncated later, the records after that point
    /// are missing too.
    public let hasTornEnd: Bool

    /// Reads the pending writes of a store. Costs no reads, and takes the time to read a few files
    /// of some megabytes, independent of the size of the cache. Call it outside the main thread.
    ///
    /// - Parameter folder: A folder from ``folder(projectID:databaseID:app:)``.
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

    /// The users with pending writes, each once. Nil means that no user was signed in.
    public var users: [String?] {
        batches.map(\.user).reduce(into: []) { users, user in
            if !users.contains(where: { Self.isSame($0, user) }) { users.append(user) }
        }
    }

    /// Returns the writes of one user, in the order of creation.
    ///
    /// - Parameter user: The id by Firebase Authentication; nil for the writes without a user.
    public func batches(of user: String?) -> [Batch] {
        batches.filter { Self.isSame($0.user, user) }
    }

    static func isSame(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.hasSameBytes(as: other)
    }
}

/// The batches that FirebaseFirestore's first versions kept after their acknowledgement: all
/// batches up to a number. Later versions removed them when they first opened such a store, and
/// reuse the numbers.
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

    /// Returns field 1 of the row of a queue; nil for bytes that cannot be read.
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
