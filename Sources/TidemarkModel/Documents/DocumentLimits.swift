/// Firestore's limits for a document and a commit. Source: server-protocol 2.1, and facts recorded
/// from production where they say more.
public enum DocumentLimits {
    /// The maximum size of a document, as ``Document/storageSize(of:at:)`` counts it: 1 MiB, in
    /// bytes.
    public static let documentBytes = 1_048_576
    /// The maximum size of one string or bytes value: 1 MiB less 89, in bytes.
    public static let valueBytes = 1_048_487
    /// The maximum size of a document in a database of the Enterprise edition: 16 MiB, in bytes.
    ///
    /// Google's clients accept such documents since July 2026: release firestore-v8.7.0 of
    /// google-cloud-node (2026-07-21) and firebase-ios-sdk#16206 (2026-07-13). The page of quotas
    /// still said 1 MiB in the copy that was read on 2026-11-29.
    public static let enterpriseDocumentBytes = 16_777_216
    /// The maximum size of one string or bytes value in the Enterprise edition: assumed to be 89
    /// less than a document, as in the Standard edition, in bytes.
    public static let enterpriseValueBytes = 16_777_127
    /// The maximum length of a field's name, in bytes.
    public static let fieldNameBytes = 1_500
    /// The maximum length of a document's path inside its database: 6 KiB, in bytes.
    public static let nameBytes = 6_144
    /// The maximum number of collections nested in a path.
    public static let collectionDepth = 100
    /// The maximum nesting of maps and arrays.
    public static let depth = 20
    /// The maximum number of components of a vector. The minimum is one.
    public static let vectorDimensions = 2_048
    /// The maximum number of transforms of one document in one commit.
    public static let transforms = 500
}
