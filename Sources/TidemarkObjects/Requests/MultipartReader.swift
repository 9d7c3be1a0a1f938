import TidemarkSystem

/// Reads a body in the form `multipart/related` piece by piece: metadata first, then the data.
///
/// A boundary counts only at the start of a line, so data may contain its text elsewhere.
package struct MultipartReader: Sendable {
    /// The maximum size of the metadata and of a part's headers, in bytes.
    package static let maxMetadataBytes = 131_072

    private enum State: Hashable, Sendable {
        case preamble, boundaryEnd, headers, part, end
    }

    private let delimiter: [UInt8]
    private var state = State.preamble
    /// The bytes that are not consumed yet. The first line has the form of later ones.
    private var pending: [UInt8] = [0x0D, 0x0A]
    private var part = 0
    package private(set) var metadata: [UInt8] = []
    /// The content type of the data; nil if its part states none.
    package private(set) var dataType: String?

    /// True if both parts and the closing boundary were read.
    package var isComplete: Bool { state == .end && part == 2 }

    /// - Returns: Nil if the content type is not `multipart/related` with a boundary.
    package init?(contentType: String?) {
        guard let boundary = Self.boundary(in: contentType ?? "", type: "multipart/related") else {
            return nil
        }
        delimiter = Array("\r\n--\(boundary)".utf8)
    }

    /// Returns the boundary of a content type, which may be quoted; nil for another type.
    package static func boundary(in contentType: String, type: String) -> String? {
        var parts = contentType.split(separator: ";").map { part in
            String(part.drop { $0 == " " || $0 == "\t" })
        }
        guard !parts.isEmpty, parts.removeFirst().lowercased().hasPrefix(type) else { return nil }
        for parameter in parts {
            let sides = parameter.split(separator: "=", maxSplits: 1).map(String.init)
            guard sides.count == 2, sides[0].lowercased() == "boundary" else { continue }
            var text = sides[1]
            while text.last == " " { text.removeLast() }
            if text.hasPrefix("\""), text.hasSuffix("\""), text.utf8.count >= 2 {
                text = String(text.dropFirst().dropLast())
            }
            return (1...70).contains(text.utf8.count) ? text : nil
        }
        return nil
    }

    /// Consumes bytes of the body.
    ///
    /// - Returns: The bytes of the data among them. Up to a boundary's length is kept for later.
    /// - Throws: ``ObjectRefusal`` with status 400 for another form.
    package mutating func feed(
        _ bytes: UnsafeRawBufferPointer
    ) throws(ObjectRefusal) -> [UInt8] {
        pending.append(contentsOf: bytes)
        var data: [UInt8] = []
        while try advance(&data) {}
        return data
    }

    /// - Returns: False if more bytes are needed.
    private mutating func advance(_ data: inout [UInt8]) throws(ObjectRefusal) -> Bool {
        switch state {
        case .preamble:
            guard let start = find(delimiter) else {
                pending.removeFirst(max(0, pending.count - delimiter.count + 1))
                return false
            }
            pending.removeFirst(start + delimiter.count)
            state = .boundaryEnd
        case .boundaryEnd:
            guard pending.count >= 2 else { return false }
            if pending[0] == UInt8(ascii: "-"), pending[1] == UInt8(ascii: "-") {
                state = .end
                return true
            }
            guard let line = find(Self.lineEnd) else {
                if pending.count > 256 { throw Self.badForm("A boundary has no line end.") }
                return false
            }
            // The line end stays: it is also the end of an empty list of headers.
            pending.removeFirst(line)
            part += 1
            if part > 2 { throw Self.badForm("The body has more than two parts.") }
            state = .headers
        case .headers:
            guard let end = find(Self.headersEnd) else {
                if pending.count > Self.maxMetadataBytes {
                    throw Self.badForm("The headers of a part are too long.")
                }
                return false
            }
            if part == 2 { dataType = Self.contentType(in: pending[..<end]) }
            pending.removeFirst(end + Self.headersEnd.count)
            state = .part
        case .part: return try advancePart(&data)
        case .end:
            pending.removeAll()
            return false
        }
        return true
    }

    private mutating func advancePart(_ data: inout [UInt8]) throws(ObjectRefusal) -> Bool {
        let found = find(delimiter)
        // The last bytes can be the start of a boundary.
        let end = found ?? max(0, pending.count - delimiter.count + 1)
        if end > 0 { try take(pending[..<end], &data) }
        guard found != nil else {
            pending.removeFirst(end)
            return false
        }
        pending.removeFirst(end + delimiter.count)
        state = .boundaryEnd
        return true
    }

    private mutating func take(
        _ bytes: ArraySlice<UInt8>, _ data: inout [UInt8]
    ) throws(ObjectRefusal) {
        if part == 2 {
            data.append(contentsOf: bytes)
            return
        }
        guard metadata.count + bytes.count <= Self.maxMetadataBytes else {
            throw Self.badForm("The metadata is too long.")
        }
        metadata.append(contentsOf: bytes)
    }

    private static let lineEnd: [UInt8] = [0x0D, 0x0A]
    private static let headersEnd: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]

    /// Returns the position of bytes that begin with a carriage return.
    private func find(_ pattern: [UInt8]) -> Int? {
        pending.withUnsafeBytes { bytes in
            pattern.withUnsafeBytes { pattern in
                guard let start = bytes.baseAddress, let wanted = pattern.baseAddress else {
                    return nil
                }
                var at = 0
                while at + pattern.count <= bytes.count {
                    guard let next = memchr(start + at, 0x0D, bytes.count - at) else { return nil }
                    at = UnsafeRawPointer(next) - start
                    guard at + pattern.count <= bytes.count else { return nil }
                    if memcmp(start + at, wanted, pattern.count) == 0 { return at }
                    at += 1
                }
                return nil
            }
        }
    }

    private static func contentType(in headers: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: headers, as: UTF8.self)
        for line in text.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":"),
                line[..<colon].lowercased() == "content-type"
            else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            return value.isEmpty ? nil : String(value)
        }
        return nil
    }

    private static func badForm(_ detail: String) -> ObjectRefusal {
        .invalid("Bad content of a multipart/related body. \(detail)")
    }
}
