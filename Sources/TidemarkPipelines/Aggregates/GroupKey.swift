import TidemarkModel

/// The values of a group, under the equality of `equal`: 1 and 1.0 are one group, null and absent
/// are two.
struct GroupKey: Hashable, Sendable {
    private let values: [EquivalentValue?]
    #if TIDEMARK_DEFECTS
        private var types: [String] = []
    #endif

    init(values: [Value?]) {
        self.values = values.map { $0.map(EquivalentValue.init) }
        #if TIDEMARK_DEFECTS
            if PipelineDefect.planted == .typedGroups {
                types = values.map { $0?.typeName ?? "" }
            }
        #endif
    }
}

/// The groups of encoded keys, so that the key of a row is decoded only if its bytes are new. Keys
/// of the same bytes are equal; equal keys can have different bytes, for example 1 and 1.0.
struct KnownKeys {
    /// The maximum number of keys. Others are decoded for each row.
    static let maxCount = 16_384
    /// The maximum length of a key.
    static let maxBytes = 256

    private struct Key: Hashable {
        var bytes: [UInt8] = []

        static func == (left: Key, right: Key) -> Bool {
            left.bytes.count == right.bytes.count
                && left.bytes.withUnsafeBufferPointer { a in
                    right.bytes.withUnsafeBufferPointer { Comparison.bytes(a, $0) == .equal }
                }
        }

        func hash(into hasher: inout Hasher) {
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    private var groups: [Key: Int] = [:]
    /// The key of the row, whose memory is used again.
    private var current = Key()

    /// Begins the key of a row.
    mutating func begin() { current.bytes.removeAll(keepingCapacity: true) }

    /// Adds a value to the key of the row; nil if it is absent.
    mutating func add(_ value: EncodedValue?) {
        guard let value else {
            #if TIDEMARK_DEFECTS
                if PipelineDefect.planted == .absentKeysForgotten { return }
            #endif
            return current.bytes.append(0)
        }
        // The length separates two values: their bytes may be those of two others.
        current.bytes.append(1)
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: value.bytes.count)) {
            current.bytes.append(contentsOf: $0)
        }
        current.bytes.append(contentsOf: value.bytes)
    }

    /// Returns the group of the row's key; nil if it is not known.
    var group: Int? { groups[current] }

    /// Keeps the group of the row's key.
    mutating func keep(_ group: Int) {
        guard groups.count < Self.maxCount, current.bytes.count <= Self.maxBytes else { return }
        groups[current] = group
    }
}
