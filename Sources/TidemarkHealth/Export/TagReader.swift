import TidemarkSystem

/// The position of an attribute's value, from the first scanned byte.
struct Field {
    var start: Int32 = -1
    var count: Int32 = 0
    var isThere: Bool { start >= 0 }
}

/// The used attributes of one element.
struct TagFields {
    var type = Field()
    var value = Field()
    var unit = Field()
    var sourceName = Field()
    /// The attribute that iOS 8 wrote instead of ``sourceName``.
    var source = Field()
    var device = Field()
    var startDate = Field()
    var endDate = Field()
    var key = Field()
    /// iOS 8 wrote a record's metadata as attributes.
    var timeZone = Field()
    var isEntered = Field()
    /// The position after the element's `>`.
    var end = 0
    var isEmptyElement = false
}

/// Reads one element with its attributes in any order.
enum TagReader {
    enum Outcome {
        case read
        /// The bytes end in the middle of the element.
        case unfinished
        case malformed
    }

    /// - Parameter place: The position after the element's name.
    @inline(__always)
    static func read(
        _ bytes: UnsafeRawBufferPointer, from place: Int, into fields: inout TagFields
    ) -> Outcome {
        let base = bytes.baseAddress!
        let count = bytes.count
        var place = place
        while true {
            // All control characters count as spaces, because some exports contain vertical tabs.
            while place < count, bytes[place] <= 32 { place += 1 }
            guard place < count else { return .unfinished }
            let first = bytes[place]
            if first == UInt8(ascii: ">") {
                fields.end = place + 1
                return .read
            }
            if first == UInt8(ascii: "/") {
                guard place + 1 < count else { return .unfinished }
                guard bytes[place + 1] == UInt8(ascii: ">") else { return .malformed }
                fields.isEmptyElement = true
                fields.end = place + 2
                return .read
            }
            let name = place
            while place < count, bytes[place] != UInt8(ascii: "=") {
                let byte = bytes[place]
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<")
                    || byte == UInt8(ascii: ">")
                {
                    return .malformed
                }
                place += 1
            }
            let nameEnd = place
            place += 1
            while place < count, bytes[place] <= 32 { place += 1 }
            guard place < count else { return .unfinished }
            let quote = bytes[place]
            guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                return .malformed
            }
            let start = place + 1
            guard let found = memchr(base + start, Int32(quote), count - start) else {
                return .unfinished
            }
            let end = UnsafeRawPointer(found) - base
            place = end + 1
            let field = Field(start: Int32(truncatingIfNeeded: start), count: Int32(end - start))
            set(&fields, bytes: bytes, start: name, end: nameEnd, field: field)
        }
    }

    @inline(__always)
    private static func set(
        _ fields: inout TagFields, bytes: UnsafeRawBufferPointer, start: Int, end: Int,
        field: Field
    ) {
        switch end - start {
        case 3 where equal(bytes, start: start, word: "key"): fields.key = field
        case 4 where equal(bytes, start: start, word: "type"): fields.type = field
        case 4 where equal(bytes, start: start, word: "unit"): fields.unit = field
        case 5 where equal(bytes, start: start, word: "value"): fields.value = field
        case 6 where equal(bytes, start: start, word: "device"): fields.device = field
        case 6 where equal(bytes, start: start, word: "source"): fields.source = field
        case 7 where equal(bytes, start: start, word: "endDate"): fields.endDate = field
        case 9 where equal(bytes, start: start, word: "startDate"): fields.startDate = field
        case 10 where equal(bytes, start: start, word: "sourceName"): fields.sourceName = field
        case 10 where equal(bytes, start: start, word: "HKTimeZone"): fields.timeZone = field
        case 12 where equal(bytes, start: start, word: "creationDate"): break
        case 13 where equal(bytes, start: start, word: "sourceVersion"): break
        case 16 where equal(bytes, start: start, word: "HKWasUserEntered"): fields.isEntered = field
        default: setSpaced(&fields, bytes: bytes, start: start, end: end, field: field)
        }
    }

    /// Sets a field whose name contains spaces, as iOS 8.3 wrote some names.
    private static func setSpaced(
        _ fields: inout TagFields, bytes: UnsafeRawBufferPointer, start: Int, end: Int,
        field: Field
    ) {
        guard end - start <= 64 else { return }
        let name = bytes[start..<end].filter { $0 > 32 }
        guard name.count < end - start else { return }
        name.withUnsafeBytes { set(&fields, bytes: $0, start: 0, end: name.count, field: field) }
    }

    @inline(__always)
    static func equal(
        _ bytes: UnsafeRawBufferPointer, start: Int, word: StaticString
    ) -> Bool {
        memcmp(bytes.baseAddress! + start, word.utf8Start, word.utf8CodeUnitCount) == 0
    }
}
