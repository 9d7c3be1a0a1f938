/// What Firestore allows of a document and of a commit; source: server-protocol 2.1, and the facts
/// recorded from production where they say more.
public enum DocumentLimits {
    /// Bytes of a whole document by ``Document/storageSize(of:at:)``: 1 MiB.
    public static let documentBytes = 1_048_576
    /// Bytes of one string or bytes value: 1 MiB less 89.
    public static let valueBytes = 1_048_487
    /// Bytes of one field's name.
    public static let fieldNameBytes = 1_500
    /// Bytes of a document's path inside its database: 6 KiB.
    public static let nameBytes = 6_144
    /// Collections below each other in a path.
    public static let collectionDepth = 100
    /// Maps and arrays inside each other.
    public static let depth = 20
    /// Components of a vector; at least one.
    public static let vectorDimensions = 2_048
    /// Transforms of one document in one commit.
    public static let transforms = 500
}
