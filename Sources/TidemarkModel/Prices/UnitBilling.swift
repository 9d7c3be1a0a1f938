/// Firestore's bill in units, for the Enterprise edition.
///
/// The functions follow the rules that Google publishes, read on 2026-11-29 in stored copies:
/// https://firebase.google.com/docs/firestore/enterprise/pricing and
/// https://firebase.google.com/docs/firestore/enterprise/pricing-examples. The properties are
/// assumptions about cases that these pages leave open. A user with better knowledge can change
/// them.
public struct UnitBilling: Hashable, Sendable {
    /// The assumed read units for a name without a document that was looked up.
    public var missingDocumentUnits = 1
    /// The assumed read units for a document that security rules read.
    public var rulesReadUnits = 1
    /// The assumed read units for a listen that resumes without changes.
    public var unchangedResumeUnits = 0

    public init() {}

    /// The assumed size of an index entry where only the number of entries is known, in bytes.
    public static let usualEntryBytes = 128
    /// The bytes of a read unit and of a real-time update unit.
    public static let readBytes = 4_096
    /// The bytes of a write unit.
    public static let writeBytes = 1_024
    /// The least bytes of a scanned document or index entry, also if its contents are not read.
    public static let leastScannedBytes = 32

    /// Returns the read units for a document that is read by its name: at least one. A read of 100
    /// documents of 1 KiB costs 100 units.
    ///
    /// - Parameter bytes: The size of the document.
    public static func pointRead(bytes: Int) -> Int { max(1, tranches(bytes, readBytes)) }

    /// Returns the read units for documents or index entries that are read one after the other: at
    /// least one. A scan of 100 documents of 1 KiB costs 25 units.
    ///
    /// - Parameter bytes: The size of all of them together.
    public static func scan(bytes: Int) -> Int { max(1, tranches(bytes, readBytes)) }

    /// Returns the read units for a count that reads no contents: 8 for 1,000 items.
    public static func count(items: Int) -> Int { scan(bytes: items * leastScannedBytes) }

    /// Returns the real-time update units for a changed document that a listener receives.
    ///
    /// - Parameter bytes: The size of the document.
    public static func update(bytes: Int) -> Int { max(1, tranches(bytes, readBytes)) }

    /// The real-time update units for a document that leaves a listener's result because it
    /// changed. A deleted document costs nothing.
    public static let removal = 1

    /// Returns the write units for a document, or for an index entry, that is written or deleted:
    /// at least one.
    ///
    /// - Parameter bytes: The size of the document or of the entry.
    public static func write(bytes: Int) -> Int { max(1, tranches(bytes, writeBytes)) }

    /// Returns the write units for an index entry that changes: the old entry is deleted, and the
    /// new one is written.
    public static func changedEntry(from old: Int, to new: Int) -> Int {
        write(bytes: old) + write(bytes: new)
    }

    /// Returns the read units for a query over an index: its entries in one scan, and each document
    /// by its name. 128 entries of 256 bytes with 128 documents of 4 KiB cost 136 units.
    ///
    /// - Parameters:
    ///   - documents: The number of documents.
    ///   - documentBytes: The size of each.
    ///   - entryBytes: The size of each index entry.
    public static func query(documents: Int, documentBytes: Int, entryBytes: Int) -> Int {
        documents * pointRead(bytes: documentBytes) + scan(bytes: documents * entryBytes)
    }

    private static func tranches(_ bytes: Int, _ size: Int) -> Int {
        bytes / size + (bytes % size > 0 ? 1 : 0)
    }
}
