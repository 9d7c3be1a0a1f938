// Firestore compares strings by their UTF-8 bytes. Swift's `==` and `<` compare by canonical
// equivalence, under which "é" equals "e" with a combining accent. This module never uses them for
// strings from a document or a path.

extension String {
    package func hasSameBytes(as other: String) -> Bool {
        let count = utf8.count
        return count == other.utf8.count && Comparison.bytes(self, other) == .equal
    }

    package func precedesInBytes(_ other: String) -> Bool {
        Comparison.bytes(self, other) == .ascending
    }

    package func hashBytes(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // A byte that UTF-8 never contains separates consecutive strings.
        hasher.combine(UInt8(0xFF))
    }

    /// Calls `body` with the UTF-8 bytes in memory. Native Swift strings are not copied.
    @inline(__always)
    package func withBytes<T>(_ body: (UnsafeBufferPointer<UInt8>) -> T) -> T {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        return Array(utf8).withUnsafeBufferPointer(body)
    }
}

/// The result of a three-way comparison.
public enum Comparison: Int8, Sendable {
    case ascending = -1
    case equal = 0
    case descending = 1

    package init<T: Comparable>(_ left: T, _ right: T) {
        self = left < right ? .ascending : (right < left ? .descending : .equal)
    }

    package static func bytes(_ left: String, _ right: String) -> Comparison {
        left.withBytes { a in right.withBytes { b in bytes(a, b) } }
    }

    package static func bytes(
        _ left: some Collection<UInt8>, _ right: some Collection<UInt8>
    ) -> Comparison {
        let result = left.withContiguousStorageIfAvailable { a in
            right.withContiguousStorageIfAvailable { b in bytes(a, b) }
        }
        return (result ?? nil) ?? bytes(Array(left), Array(right))
    }

    /// Compares eight bytes at a time as big-endian integers, whose order is that of the bytes.
    package static func bytes(
        _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
    ) -> Comparison {
        let a = UnsafeRawBufferPointer(left)
        let b = UnsafeRawBufferPointer(right)
        let common = min(a.count, b.count)
        var index = 0
        while index + 8 <= common {
            let x = a.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let y = b.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            if x != y { return x.bigEndian < y.bigEndian ? .ascending : .descending }
            index += 8
        }
        while index < common {
            if a[index] != b[index] { return a[index] < b[index] ? .ascending : .descending }
            index += 1
        }
        return Comparison(a.count, b.count)
    }

    public var reversed: Comparison {
        switch self {
        case .ascending: .descending
        case .equal: .equal
        case .descending: .ascending
        }
    }
}

/// A string that is compared and hashed by its bytes, for keys of sets and dictionaries.
package struct ByteString: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ByteString, right: ByteString) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}
