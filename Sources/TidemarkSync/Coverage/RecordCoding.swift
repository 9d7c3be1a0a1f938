import TidemarkModel

/// Writes the bytes of the small records that feeds keep. Every record begins with its format
/// number.
struct RecordWriter {
    private(set) var bytes: [UInt8]

    init(format: UInt8) { bytes = [format] }

    mutating func unsigned(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func signed(_ value: Int64) {
        unsigned(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    mutating func time(_ time: Timestamp) {
        signed(time.seconds)
        unsigned(UInt64(time.nanoseconds))
    }

    mutating func path(_ path: DocumentPath) {
        unsigned(UInt64(path.text.utf8.count))
        bytes += path.text.utf8
    }

    mutating func optional<T>(_ value: T?, _ write: (inout RecordWriter, T) -> Void) {
        unsigned(value == nil ? 0 : 1)
        if let value { write(&self, value) }
    }

    mutating func position(_ position: CoveragePosition) {
        time(position.time)
        switch position.place {
        case .start: unsigned(0)
        case .before(let path):
            unsigned(1)
            self.path(path)
        case .after(let path):
            unsigned(2)
            self.path(path)
        case .end: unsigned(3)
        }
    }
}

/// Reads records of ``RecordWriter``. Any other bytes give nil, which a feed treats as no
/// knowledge.
struct RecordReader {
    private var rest: ArraySlice<UInt8>

    init?(_ bytes: [UInt8], format: UInt8) {
        guard bytes.first == format else { return nil }
        rest = bytes.dropFirst()
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func unsigned() -> UInt64? {
        var result: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            result |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return result }
        }
        return nil
    }

    mutating func signed() -> Int64? {
        unsigned().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    mutating func time() -> Timestamp? {
        guard let seconds = signed(), let fraction = unsigned(),
            let nanoseconds = Int32(exactly: fraction),
            Timestamp.isValid(seconds: seconds, nanoseconds: nanoseconds)
        else { return nil }
        return Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    }

    mutating func path() -> DocumentPath? {
        guard let count = unsigned(), count <= rest.count else { return nil }
        let text = String(validating: rest.prefix(Int(count)), as: UTF8.self)
        rest = rest.dropFirst(Int(count))
        return text.flatMap { try? DocumentPath($0) }
    }

    /// Reads a count, at most the number of remaining bytes, so that a damaged count reserves no
    /// memory.
    mutating func count() -> Int? {
        guard let count = unsigned(), count <= rest.count else { return nil }
        return Int(count)
    }

    /// Reads an optional value. The outer nil means damage; the inner nil was written.
    mutating func optional<T>(_ read: (inout RecordReader) -> T?) -> T?? {
        switch unsigned() {
        case 0: return .some(nil)
        case 1: return read(&self).map { .some($0) }
        default: return nil
        }
    }

    mutating func position() -> CoveragePosition? {
        guard let time = time() else { return nil }
        switch unsigned() {
        case 0: return .start(of: time)
        case 1: return path().map { .before(time, $0) }
        case 2: return path().map { .after(time, $0) }
        case 3: return .end(of: time)
        default: return nil
        }
    }
}

extension Coverage {
    func write(to writer: inout RecordWriter) {
        writer.unsigned(UInt64(intervals.count))
        for interval in intervals {
            writer.position(interval.lower)
            writer.position(interval.upper)
            writer.time(interval.asOf)
        }
    }

    init?(from reader: inout RecordReader) {
        guard let count = reader.count() else { return nil }
        var intervals: [Interval] = []
        for _ in 0..<count {
            guard let lower = reader.position(), let upper = reader.position(), lower < upper,
                let asOf = reader.time()
            else { return nil }
            intervals.append(Interval(lower: lower, upper: upper, asOf: asOf))
        }
        self.init(intervals)
    }
}
