/// The header `Content-Range` of an upload. Source: storage C4.
package enum ContentRange: Hashable, Sendable {
    /// The request has bytes from a position on.
    case bytes(first: Int64, count: Int64, total: Int64?)
    /// The request has no bytes. It asks for the position, or completes the object if the total is
    /// the number of stored bytes.
    case none(total: Int64?)

    /// Returns nil if the text is not such a header.
    package init?(_ text: String) {
        guard text.hasPrefix("bytes ") else { return nil }
        let sides = text.dropFirst(6).split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        var total: Int64?
        if sides[1] != "*" {
            guard let number = ByteNumber.parse(sides[1]) else { return nil }
            total = number
        }
        if sides[0] == "*" {
            self = .none(total: total)
            return
        }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ByteNumber.parse(ends[0]),
            let last = ByteNumber.parse(ends[1]), last >= first, last < .max
        else { return nil }
        self = .bytes(first: first, count: last - first + 1, total: total)
    }
}

/// The part of an object that a download asks for.
package enum DownloadRange: Hashable, Sendable {
    case whole
    case part(first: Int64, count: Int64)
    /// The object has none of the bytes.
    case unsatisfiable

    /// - Parameter header: The header `Range`. A header that is not understood asks for all bytes,
    ///   and so does one with several ranges.
    package init(_ header: String?, size: Int64) {
        guard let header, header.hasPrefix("bytes="), !header.utf8.contains(UInt8(ascii: ","))
        else {
            self = .whole
            return
        }
        let ends = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else {
            self = .whole
            return
        }
        if ends[0].isEmpty {
            guard let suffix = ByteNumber.parse(ends[1]) else {
                self = .whole
                return
            }
            let count = min(suffix, size)
            self = count == 0 ? .unsatisfiable : .part(first: size - count, count: count)
            return
        }
        guard let first = ByteNumber.parse(ends[0]) else {
            self = .whole
            return
        }
        let last = ends[1].isEmpty ? size - 1 : min(ByteNumber.parse(ends[1]) ?? -1, size - 1)
        if first >= size {
            self = .unsatisfiable
        } else if last < first {
            self = .whole
        } else {
            self = .part(first: first, count: last - first + 1)
        }
    }
}

package enum ByteNumber {
    /// Parses a number of bytes: digits alone, without a sign.
    package static func parse(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
