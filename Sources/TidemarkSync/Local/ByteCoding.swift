/// A record on disk that cannot be read: the file was damaged, or written by something else.
struct DamagedRecord: Error, Hashable, Sendable {
    let what: String
}

/// Writes the compact form of this target's own records.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    mutating func count(_ value: Int) {
        var rest = UInt64(value)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func integer(_ value: Int64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func data(_ value: [UInt8]) {
        count(value.count)
        bytes.append(contentsOf: value)
    }

    mutating func text(_ value: String) {
        count(value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }
}

/// Reads what ``ByteWriter`` wrote. Total: bad bytes throw.
struct ByteReader {
    private let bytes: [UInt8]
    private var next = 0
    private let what: String

    init(_ bytes: [UInt8], of what: String) {
        self.bytes = bytes
        self.what = what
    }

    var isAtEnd: Bool { next == bytes.count }
    var damage: DamagedRecord { DamagedRecord(what: what) }

    mutating func byte() throws(DamagedRecord) -> UInt8 {
        guard next < bytes.count else { throw damage }
        defer { next += 1 }
        return bytes[next]
    }

    mutating func count() throws(DamagedRecord) -> Int {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try byte()
            result |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { break }
            shift += 7
            if shift > 49 { throw damage }
        }
        return Int(result)
    }

    mutating func integer() throws(DamagedRecord) -> Int64 {
        guard bytes.count - next >= 8 else { throw damage }
        defer { next += 8 }
        let value = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: next, as: Int64.self) }
        return Int64(littleEndian: value)
    }

    mutating func data() throws(DamagedRecord) -> [UInt8] {
        let count = try count()
        guard count <= bytes.count - next else { throw damage }
        defer { next += count }
        return Array(bytes[next..<next + count])
    }

    mutating func text() throws(DamagedRecord) -> String {
        guard let text = String(validating: try data(), as: UTF8.self) else { throw damage }
        return text
    }
}
