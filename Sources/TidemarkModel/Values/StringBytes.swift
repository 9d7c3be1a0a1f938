// Firestore compares text by its UTF-8 bytes. Swift's `==` and `<` on `String` compare by canonical
// equivalence, which would make one key of two ("é" and "e" with an accent), so nothing in this
// module uses them on text that came from a document or a path.

extension String {
    package func hasSameBytes(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }

    package func precedesInBytes(_ other: String) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
    }

    package func hashBytes(into hasher: inout Hasher) {
        var copy = self
        copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xFF))
    }
}

/// Below, level or above: the answer of every three-way comparison here.
public enum Comparison: Int8, Sendable {
    case ascending = -1
    case equal = 0
    case descending = 1

    package init<T: Comparable>(_ left: T, _ right: T) {
        self = left < right ? .ascending : (right < left ? .descending : .equal)
    }

    package static func bytes(_ left: String, _ right: String) -> Comparison {
        var left = left
        var right = right
        return left.withUTF8 { a in right.withUTF8 { b in bytes(a, b) } }
    }

    package static func bytes(
        _ left: some Collection<UInt8>, _ right: some Collection<UInt8>
    ) -> Comparison {
        var a = left.makeIterator()
        var b = right.makeIterator()
        while true {
            switch (a.next(), b.next()) {
            case (nil, nil): return .equal
            case (nil, _?): return .ascending
            case (_?, nil): return .descending
            case (let x?, let y?): if x != y { return x < y ? .ascending : .descending }
            }
        }
    }

    public var reversed: Comparison { Comparison(rawValue: -rawValue)! }
}
