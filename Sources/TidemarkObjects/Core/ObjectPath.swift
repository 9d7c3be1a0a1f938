import TidemarkModel

/// The bucket and the name of an object. Names are compared by their bytes: two spellings of "é"
/// are two objects.
package struct ObjectPath: Hashable, Sendable, Codable {
    /// The maximum length of a name, in bytes of UTF-8.
    package static let maxNameBytes = 1_024
    private static let maxBucketBytes = 222

    package let bucket: String
    package let name: String

    /// - Throws: ``ObjectRefusal`` with status 400 if the bucket or the name is invalid. Source:
    ///   "About Cloud Storage objects".
    package init(bucket: String, name: String) throws(ObjectRefusal) {
        try Self.check(bucket: bucket)
        let bytes = name.utf8
        guard !bytes.isEmpty, bytes.count <= Self.maxNameBytes else {
            throw .invalid("The name of an object must have 1 to 1024 bytes.")
        }
        if bytes.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
            throw .invalid("The name of an object must not contain a line break.")
        }
        if [".", ".."].contains(name) || name.hasPrefix(".well-known/acme-challenge/") {
            throw .invalid("An object must not have the name \(name).")
        }
        self.bucket = bucket
        self.name = name
    }

    /// - Throws: ``ObjectRefusal`` with status 400 if the name of the bucket is invalid.
    package static func check(bucket: String) throws(ObjectRefusal) {
        let isPlain = bucket.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."), UInt8(ascii: ":"):
                true
            default: false
            }
        }
        guard isPlain, (1...maxBucketBytes).contains(bucket.utf8.count), bucket != ".",
            bucket != ".."
        else {
            throw .invalid("A bucket's name has 1 to 222 letters, digits and the signs - _ . :")
        }
    }

    /// True if a segment between slashes is empty. Firebase's lists hide such names.
    package var hasEmptySegment: Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.contains { $0.isEmpty }
    }

    package static func == (one: ObjectPath, other: ObjectPath) -> Bool {
        one.bucket.hasSameBytes(as: other.bucket) && one.name.hasSameBytes(as: other.name)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in bucket.utf8 { hasher.combine(byte) }
        for byte in name.utf8 { hasher.combine(byte) }
    }
}
