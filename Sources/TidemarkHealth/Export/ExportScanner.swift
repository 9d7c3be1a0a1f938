import TidemarkSystem

/// Finds the records in the bytes of an `export.xml`, part by part. The scanner is not an XML
/// parser: it finds the elements that Health writes and skips all others. Faults elsewhere in the
/// file, such as the document type of iOS 16 or control characters, do not matter.
struct ExportScanner: Sendable {
    private(set) var counts = ExportCounts()
    var names: NameTables

    private enum Place: Hashable { case prologue, body, ended }
    private var place = Place.prologue
    private var correlations = 0
    /// The record whose end tag has not been read. Its metadata can complete it.
    private var open: PackedSample?
    private var isOpen = false
    private var line = 1
    private var lastType: (hash: UInt64, kind: HealthKind?) = (0, nil)
    private var kinds: [UInt64: HealthKind]
    private var units: [UInt64: Double] = [:]

    /// The maximum size of an element in bytes. A larger element is a bad record.
    static let maxElement = 65_536
    /// The maximum number of bytes before the document. The document type comes before it.
    static let maxPrologue = 1_048_576

    /// - Parameter isInside: True if the bytes begin in the middle of the document, at a record.
    init(names: NameTables = NameTables(), isInside: Bool = false) {
        self.names = names
        if isInside { place = .body }
        kinds = Dictionary(
            uniqueKeysWithValues: HealthKind.identifiers.map { (Hash64.of($0.0), $0.1) })
    }

    /// True if the document's end was found.
    var hasEnded: Bool { place == .ended }

    /// Finds records in the next bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that the previous call did not consume, and further bytes.
    ///   - isLast: True if no bytes follow.
    /// - Returns: The number of consumed bytes.
    /// - Throws: ``HealthExportError/notAnExport(file:)`` with an empty name.
    mutating func scan(
        _ bytes: UnsafeRawBufferPointer, isLast: Bool, into samples: inout [PackedSample]
    ) throws(HealthExportError) -> Int {
        var consumed = 0
        if place == .prologue {
            consumed = try prologue(bytes, isLast: isLast)
            if place == .prologue {
                counts.bytes += Int64(consumed)
                return consumed
            }
        }
        let lineStart = consumed
        consumed = body(bytes, from: consumed, isLast: isLast, into: &samples)
        line += Self.newlines(bytes, from: lineStart, to: consumed)
        counts.bytes += Int64(consumed)
        if isLast {
            close(into: &samples)
            counts.isCutOff = place != .ended
        }
        return consumed
    }
}

// MARK: - Before the document

extension ExportScanner {
    private mutating func prologue(
        _ bytes: UnsafeRawBufferPointer, isLast: Bool
    ) throws(HealthExportError) -> Int {
        var place = 0
        while let found = Self.find(UInt8(ascii: "<"), bytes: bytes, from: place) {
            if Self.starts(bytes, from: found, word: "<HealthData") {
                let next = found + 11
                if next < bytes.count, bytes[next] <= 32 || bytes[next] == UInt8(ascii: ">") {
                    line += Self.newlines(bytes, from: 0, to: found)
                    self.place = .body
                    return found
                }
            }
            place = found + 1
        }
        let before = counts.bytes + Int64(bytes.count)
        if isLast || before > Self.maxPrologue { throw .notAnExport(file: "") }
        // The end of the bytes can be the beginning of the name.
        let kept = min(bytes.count, 16)
        line += Self.newlines(bytes, from: 0, to: bytes.count - kept)
        return bytes.count - kept
    }
}

// MARK: - The document

extension ExportScanner {
    private mutating func body(
        _ bytes: UnsafeRawBufferPointer, from start: Int, isLast: Bool,
        into samples: inout [PackedSample]
    ) -> Int {
        var next = start
        while place == .body, let tag = Self.find(UInt8(ascii: "<"), bytes: bytes, from: next) {
            let end = element(bytes, tag: tag, start: start, samples: &samples)
            if end > 0 {
                next = end
                continue
            }
            // The bytes end in the middle of the element.
            if bytes.count - tag <= Self.maxElement, !isLast { return tag }
            if isLast, bytes.count - tag <= Self.maxElement {
                if Self.starts(bytes, from: tag, word: "<Record") {
                    addBad(.malformed, bytes: bytes, tag: tag, start: start)
                }
            } else {
                addBad(.tooLong, bytes: bytes, tag: tag, start: start)
            }
            next = tag + 1
        }
        return bytes.count
    }

    /// - Returns: The end of the element, or 0 if the bytes end before it.
    @inline(__always)
    private mutating func element(
        _ bytes: UnsafeRawBufferPointer, tag: Int, start: Int,
        samples: inout [PackedSample]
    ) -> Int {
        // All names below, with the byte after them, fit into 15 bytes. Less is left only at a
        // part's end.
        guard tag + 15 <= bytes.count else { return short(bytes, tag: tag, samples: &samples) }
        switch bytes[tag + 1] {
        case UInt8(ascii: "R") where Self.isNamed(bytes, tag: tag, name: "<Record"):
            return record(bytes, tag: tag, start: start, samples: &samples)
        case UInt8(ascii: "M") where Self.isNamed(bytes, tag: tag, name: "<MetadataEntry"):
            return metadata(bytes, tag: tag, start: start)
        case UInt8(ascii: "/"): return endTag(bytes, tag: tag, samples: &samples)
        case UInt8(ascii: "C") where Self.isNamed(bytes, tag: tag, name: "<Correlation"):
            close(into: &samples)
            var fields = TagFields()
            guard let end = skip(bytes, tag: tag, start: start, fields: &fields) else { return 0 }
            if !fields.isEmptyElement { correlations += 1 }
            return end
        case UInt8(ascii: "!") where Self.starts(bytes, from: tag, word: "<!--"):
            return after("-->", bytes: bytes, tag: tag)
        case UInt8(ascii: "?"): return after("?>", bytes: bytes, tag: tag)
        default:
            var fields = TagFields()
            return skip(bytes, tag: tag, start: start, fields: &fields) ?? 0
        }
    }

    /// Handles the last few bytes of a part, in which only an end tag can be complete.
    private mutating func short(
        _ bytes: UnsafeRawBufferPointer, tag: Int, samples: inout [PackedSample]
    ) -> Int {
        guard tag + 1 < bytes.count, bytes[tag + 1] == UInt8(ascii: "/") else { return 0 }
        return endTag(bytes, tag: tag, samples: &samples)
    }

    private mutating func endTag(
        _ bytes: UnsafeRawBufferPointer, tag: Int, samples: inout [PackedSample]
    ) -> Int {
        guard let end = Self.find(UInt8(ascii: ">"), bytes: bytes, from: tag) else { return 0 }
        if Self.starts(bytes, from: tag, word: "</Record") {
            close(into: &samples)
        } else if Self.starts(bytes, from: tag, word: "</Correlation") {
            close(into: &samples)
            correlations = max(0, correlations - 1)
        } else if Self.starts(bytes, from: tag, word: "</HealthData") {
            close(into: &samples)
            place = .ended
        }
        return end + 1
    }

    private func after(
        _ mark: StaticString, bytes: UnsafeRawBufferPointer, tag: Int
    ) -> Int {
        var place = tag
        while let found = Self.find(mark.utf8Start[0], bytes: bytes, from: place) {
            if Self.starts(bytes, from: found, word: mark) { return found + mark.utf8CodeUnitCount }
            place = found + 1
        }
        return 0
    }

    /// Skips an element that is not needed. Returns nil if the bytes end before the element.
    private mutating func skip(
        _ bytes: UnsafeRawBufferPointer, tag: Int, start: Int, fields: inout TagFields
    ) -> Int? {
        var name = tag + 1
        while name < bytes.count, Self.isOfName(bytes[name]) { name += 1 }
        switch TagReader.read(bytes, from: name, into: &fields) {
        case .read: return fields.end
        case .unfinished: return nil
        // The element is not needed, so skipping its first byte loses nothing.
        case .malformed: return tag + 1
        }
    }

    private mutating func close(into samples: inout [PackedSample]) {
        isOpen = false
        guard let sample = open else { return }
        samples.append(sample)
        open = nil
    }
}

// MARK: - Records

extension ExportScanner {
    @inline(__always)
    private mutating func record(
        _ bytes: UnsafeRawBufferPointer, tag: Int, start: Int,
        samples: inout [PackedSample]
    ) -> Int {
        var fields = TagFields()
        switch TagReader.read(bytes, from: tag + 7, into: &fields) {
        case .read: break
        case .unfinished: return 0
        case .malformed:
            close(into: &samples)
            addBad(.malformed, bytes: bytes, tag: tag, start: start)
            return tag + 1
        }
        if isOpen { close(into: &samples) }
        isOpen = !fields.isEmptyElement
        if correlations > 0 {
            counts.nested += 1
            return fields.end
        }
        switch sample(bytes, fields) {
        case .sample(let sample):
            counts.samples += 1
            if fields.isEmptyElement { samples.append(sample) } else { open = sample }
        case .ignored: counts.ignored += 1
        case .bad(let reason, let field):
            addBad(reason, bytes: bytes, tag: tag, start: start, field: field)
        }
        return fields.end
    }

    private enum Reading {
        case sample(PackedSample)
        case ignored
        /// The record is bad; the field is the wrong text, if a single attribute is wrong.
        case bad(BadRecord.Reason, Field = Field())
    }

    @inline(__always)
    private mutating func sample(
        _ bytes: UnsafeRawBufferPointer, _ fields: TagFields
    ) -> Reading {
        guard fields.type.isThere else { return .bad(.missing(attribute: "type")) }
        guard let kind = kind(Self.text(bytes, fields.type)) else { return .ignored }
        guard fields.startDate.isThere else { return .bad(.missing(attribute: "startDate")) }
        guard fields.value.isThere || kind == .sleep else {
            return .bad(.missing(attribute: "value"))
        }
        // The only content of a sleep record is its duration.
        guard fields.endDate.isThere || kind != .sleep else {
            return .bad(.missing(attribute: "endDate"))
        }
        let startText = Self.text(bytes, fields.startDate)
        guard let first = ExportDate.parse(startText) else {
            return .bad(.badDate(attribute: "startDate"), fields.startDate)
        }
        var last = first
        if fields.endDate.isThere {
            let endText = Self.text(bytes, fields.endDate)
            if endText.count != startText.count
                || memcmp(startText.baseAddress!, endText.baseAddress!, startText.count) != 0
            {
                guard let date = ExportDate.parse(endText) else {
                    return .bad(.badDate(attribute: "endDate"), fields.endDate)
                }
                last = date
            }
        }
        guard PackedSample.starts.contains(first.seconds) else {
            return .bad(.outOfRange, fields.startDate)
        }
        let duration = last.seconds - first.seconds
        if duration < 0 { return .bad(.endsBeforeItStarts, fields.endDate) }
        if duration > PackedSample.maxDuration { return .bad(.lastsTooLong, fields.endDate) }
        let value: Int64
        switch self.value(kind, duration: duration, bytes: bytes, fields: fields) {
        case .value(let found): value = found
        case .ignored: return .ignored
        case .bad(let reason): return .bad(reason, reason == .badUnit ? fields.unit : fields.value)
        }
        let sourceName = fields.sourceName.isThere ? fields.sourceName : fields.source
        guard
            let source = names.source(
                name: Self.text(bytes, sourceName), device: Self.text(bytes, fields.device))
        else { return .bad(.tooManySources) }
        var sample = PackedSample(
            kind: kind, start: first.seconds, duration: UInt32(duration), value: value,
            source: source, sourceHash: names.sourceHashes[Int(source)],
            startOffset: first.offset, endOffset: last.offset)
        if fields.timeZone.isThere { sample.zone = names.zone(Self.text(bytes, fields.timeZone)) }
        if fields.isEntered.isThere {
            sample.isEntered = Self.isEqual(Self.text(bytes, fields.isEntered), "1")
        }
        return .sample(sample)
    }

    private enum Amount {
        case value(Int64)
        case ignored
        case bad(BadRecord.Reason)
    }

    @inline(__always)
    private mutating func value(
        _ kind: HealthKind, duration: Int64, bytes: UnsafeRawBufferPointer,
        fields: TagFields
    ) -> Amount {
        let text = Self.text(bytes, fields.value)
        if kind == .sleep { return Self.asleep(text, duration) }
        guard let number = Decimal6.parse(text) else { return .bad(.badValue) }
        if number < 0, !kind.mayBeNegative { return .bad(.badValue) }
        guard let factor = factor(kind, Self.text(bytes, fields.unit)) else {
            return .bad(.badUnit)
        }
        if factor == 1 { return .value(number) }
        guard let value = Decimal6.of(Double(number) / 1_000_000 * factor) else {
            return .bad(.badValue)
        }
        return .value(value)
    }

    /// Returns the seconds of sleep. Time awake counts as zero seconds, which is compared with
    /// other sources; time in bed is ignored.
    private static func asleep(_ value: UnsafeRawBufferPointer, _ duration: Int64) -> Amount {
        let prefix: StaticString = "HKCategoryValueSleepAnalysis"
        let length = prefix.utf8CodeUnitCount
        guard value.count > length, starts(value, from: 0, word: prefix) else {
            return .bad(.badValue)
        }
        if starts(value, from: length, word: "Asleep") {
            return .value(max(duration, 1) * Decimal6.one)
        }
        if starts(value, from: length, word: "Awake") { return .value(0) }
        return starts(value, from: length, word: "InBed") ? .ignored : .bad(.badValue)
    }

    @inline(__always)
    private mutating func kind(_ type: UnsafeRawBufferPointer) -> HealthKind? {
        let hash = Hash64.of(type)
        if hash == lastType.hash { return lastType.kind }
        lastType = (hash, kinds[hash])
        return lastType.kind
    }

    @inline(__always)
    private mutating func factor(_ kind: HealthKind, _ unit: UnsafeRawBufferPointer) -> Double? {
        if unit.count == 5, kind == .steps, TagReader.equal(unit, start: 0, word: "count") {
            return 1
        }
        let hash = Hash64.of(unit, seed: UInt64(kind.rawValue))
        if let factor = units[hash] { return factor }
        guard let factor = kind.factor(unit: String(decoding: unit, as: UTF8.self)) else {
            return nil
        }
        if units.count < 1_024 { units[hash] = factor }
        return factor
    }

    private mutating func metadata(
        _ bytes: UnsafeRawBufferPointer, tag: Int, start: Int
    ) -> Int {
        var fields = TagFields()
        guard let end = skip(bytes, tag: tag, start: start, fields: &fields) else { return 0 }
        guard open != nil, fields.key.isThere, fields.value.isThere else { return end }
        let key = Self.text(bytes, fields.key)
        let value = Self.text(bytes, fields.value)
        if Self.isEqual(key, "HKTimeZone") { open?.zone = names.zone(value) }
        if Self.isEqual(key, "HKWasUserEntered") {
            open?.isEntered = Self.isEqual(value, "1")
        }
        return end
    }

    private mutating func addBad(
        _ reason: BadRecord.Reason, bytes: UnsafeRawBufferPointer, tag: Int, start: Int,
        field: Field = Field()
    ) {
        counts.bad += 1
        guard counts.badRecords.count < ExportCounts.maxBadRecords else { return }
        let text = field.isThere ? String(decoding: Self.text(bytes, field), as: UTF8.self) : nil
        counts.badRecords.append(
            BadRecord(
                line: line + Self.newlines(bytes, from: start, to: tag),
                offset: counts.bytes + Int64(tag),
                reason: reason, text: text.map { BadRecord.shown($0) }))
    }
}

// MARK: - Bytes

extension ExportScanner {
    @inline(__always)
    private static func text(
        _ bytes: UnsafeRawBufferPointer, _ field: Field
    ) -> UnsafeRawBufferPointer {
        guard field.isThere else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(
            start: bytes.baseAddress! + Int(field.start), count: Int(field.count))
    }

    @inline(__always)
    private static func find(
        _ byte: UInt8, bytes: UnsafeRawBufferPointer, from: Int
    ) -> Int? {
        guard from < bytes.count, let base = bytes.baseAddress else { return nil }
        guard let found = memchr(base + from, Int32(byte), bytes.count - from) else { return nil }
        return UnsafeRawPointer(found) - base
    }

    @inline(__always)
    private static func starts(
        _ bytes: UnsafeRawBufferPointer, from: Int, word: StaticString
    ) -> Bool {
        from + word.utf8CodeUnitCount <= bytes.count
            && TagReader.equal(bytes, start: from, word: word)
    }

    /// Returns true if an element has exactly this name.
    @inline(__always)
    private static func isNamed(
        _ bytes: UnsafeRawBufferPointer, tag: Int, name: StaticString
    ) -> Bool {
        TagReader.equal(bytes, start: tag, word: name)
            && !isOfName(bytes[tag + name.utf8CodeUnitCount])
    }

    @inline(__always)
    private static func isOfName(_ byte: UInt8) -> Bool {
        byte > 32 && byte != UInt8(ascii: ">") && byte != UInt8(ascii: "/")
    }

    private static func isEqual(_ bytes: UnsafeRawBufferPointer, _ word: StaticString) -> Bool {
        bytes.count == word.utf8CodeUnitCount && starts(bytes, from: 0, word: word)
    }

    private static func newlines(
        _ bytes: UnsafeRawBufferPointer, from: Int, to: Int
    ) -> Int {
        guard from < to else { return 0 }
        var count = 0
        for byte in UnsafeRawBufferPointer(rebasing: bytes[from..<to]) where byte == 10 {
            count &+= 1
        }
        return count
    }
}
