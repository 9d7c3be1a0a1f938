/// Finds the newest days of an export with a few hundred reads at chosen offsets.
///
/// Health writes one kind after the other, each from its oldest record to its newest. So the newest
/// records are before each change of kind, and wherever dates decrease. A part of the file is read
/// if it can contain a new record; the rest of the import finds records that this search misses.
struct NewestRecords {
    struct Settings: Hashable, Sendable {
        /// The size below which a file is read completely, because that is fast.
        var smallest: Int64 = 8 << 20
        /// The initial distance between two reads; larger in files of more than 2 GB.
        var stretch: Int64 = 4 << 20
        /// The size of a part that is not divided further.
        var part: Int64 = 192 << 10
        /// The maximum number of bytes to read before the rest.
        var most: Int64 = 64 << 20
        var days: Int64 = 7
    }

    enum Outcome: Hashable {
        /// Parts of the file that begin at records, and the second since which records are new.
        case found([Range<Int64>], since: Int64)
        case not(HealthImport.FirstDays.Reason)
    }

    /// A record that was read.
    private struct Look: Hashable {
        var offset: Int64
        /// The hash of the name of its type; 0 if no record follows.
        var type: UInt64
        var start: Int64
    }

    private let file: ReadOnlyFile
    private let settings: Settings
    private var stretches: [(from: Look, to: Look)] = []
    private var looks = 0

    private static let window = 16_384
    private static let widestWindow = 131_072
    private static let maxStretches: Int64 = 512
    private static let maxLooks = 8_192
    /// The maximum decrease of dates where the records of several devices alternate.
    private static let slack: Int64 = 86_400

    static func find(in file: ReadOnlyFile, _ settings: Settings) throws -> Outcome {
        let head = try file.bytes(at: 0, count: min(Int(file.size), 2))
        if head == [0x50, 0x4B] { return .not(.packed) }
        if file.size < settings.smallest { return .not(.small) }
        var search = NewestRecords(file: file, settings: settings)
        return try search.run()
    }

    private init(file: ReadOnlyFile, settings: Settings) {
        self.file = file
        self.settings = settings
    }

    private mutating func run() throws -> Outcome {
        guard let (body, exported) = try header() else { return .not(.scattered) }
        let length = max(settings.stretch, (file.size - body) / Self.maxStretches + 1)
        var all = [try look(at: body)]
        var next = body + length
        while next < file.size {
            let look = try look(at: next)
            if look.offset > all[all.count - 1].offset { all.append(look) }
            next += length
        }
        all.append(Look(offset: file.size, type: 0, start: .min))
        for (from, to) in zip(all, all.dropFirst()) {
            try divide(from, to) { $0.type != $1.type || $1.start < $0.start - Self.slack }
        }
        // A record with a date in the future is an error, and does not count as new.
        let latest = exported.map { $0 + 86_400 } ?? .max
        let starts = stretches.flatMap { [$0.from, $0.to] }.filter { $0.type != 0 }.map(\.start)
        guard let newest = starts.filter({ $0 <= latest }).max() else {
            return .not(.scattered)
        }
        // The start is early enough for whole days in every time zone.
        let since = newest - (settings.days + 1) * 86_400
        let found = stretches
        stretches = []
        for (from, to) in found {
            try divide(from, to) { $0.start < since && $1.start >= since }
        }
        let ranges = joined(since)
        let bytes = ranges.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
        // A second read of most of the file would not help.
        guard bytes <= settings.most, bytes <= file.size / 2, looks < Self.maxLooks else {
            return .not(.scattered)
        }
        return .found(ranges, since: since)
    }

    /// Divides a stretch that can contain an edge into halves, until it is small.
    private mutating func divide(
        _ from: Look, _ to: Look, where mayHoldEdge: (Look, Look) -> Bool
    ) throws {
        let length = to.offset - from.offset
        if length > settings.part, looks < Self.maxLooks, mayHoldEdge(from, to) {
            let middle = try look(at: from.offset + length / 2)
            if middle.offset > from.offset, middle.offset < to.offset {
                try divide(from, middle, where: mayHoldEdge)
                try divide(middle, to, where: mayHoldEdge)
                return
            }
        }
        stretches.append((from, to))
    }

    /// Returns the stretches that can contain new records; adjacent stretches are joined.
    private func joined(_ since: Int64) -> [Range<Int64>] {
        var ranges: [Range<Int64>] = []
        for (from, to) in stretches {
            let isEdge = from.type != to.type || to.start < from.start - Self.slack
            guard from.type != 0, isEdge || from.start >= since || to.start >= since else {
                continue
            }
            if let last = ranges.last, last.upperBound == from.offset {
                ranges[ranges.count - 1] = last.lowerBound..<to.offset
            } else {
                ranges.append(from.offset..<to.offset)
            }
        }
        return ranges
    }

    /// Returns the first record at or behind an offset.
    private mutating func look(at offset: Int64) throws -> Look {
        looks += 1
        var count = Self.window
        while true {
            let bytes = try file.bytes(at: offset, count: count)
            if let found = bytes.withUnsafeBytes({ Self.record(in: $0) }) {
                return Look(
                    offset: offset + Int64(found.place), type: found.type, start: found.start)
            }
            if bytes.count < count || count >= Self.widestWindow { break }
            count *= 8
        }
        return Look(offset: offset, type: 0, start: .min)
    }

    private static func record(
        in bytes: UnsafeRawBufferPointer
    ) -> (place: Int, type: UInt64, start: Int64)? {
        var place = 0
        while let tag = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
            place = tag + 1
            guard tag + 8 < bytes.count, TagReader.equal(bytes, start: tag, word: "<Record"),
                bytes[tag + 7] <= 32
            else { continue }
            var fields = TagFields()
            guard case .read = TagReader.read(bytes, from: tag + 7, into: &fields),
                fields.type.isThere, fields.startDate.isThere,
                let date = ExportDate.parse(text(bytes, fields.startDate))
            else { continue }
            return (tag, Hash64.of(text(bytes, fields.type)), date.seconds)
        }
        return nil
    }

    private static func text(
        _ bytes: UnsafeRawBufferPointer, _ field: Field
    ) -> UnsafeRawBufferPointer {
        let start = Int(field.start)
        return UnsafeRawBufferPointer(rebasing: bytes[start..<(start + Int(field.count))])
    }

    /// Returns the offset of the document's body, and the time of the export if the document states
    /// it; nil for another file.
    private func header() throws -> (body: Int64, exported: Int64?)? {
        let bytes = try file.bytes(at: 0, count: Int(min(file.size, 262_144)))
        return bytes.withUnsafeBytes { bytes in
            var place = 0
            var body: Int64?
            while let tag = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
                place = tag + 1
                guard tag + 12 < bytes.count else { break }
                if TagReader.equal(bytes, start: tag, word: "<HealthData"), bytes[tag + 11] <= 62 {
                    body = Int64(tag)
                }
                if body != nil, TagReader.equal(bytes, start: tag, word: "<ExportDate") {
                    var fields = TagFields()
                    guard case .read = TagReader.read(bytes, from: tag + 11, into: &fields),
                        fields.value.isThere
                    else { break }
                    let date = ExportDate.parse(Self.text(bytes, fields.value))
                    return (Int64(tag), date?.seconds)
                }
                if body != nil, TagReader.equal(bytes, start: tag, word: "<Record") { break }
            }
            return body.map { ($0, nil) }
        }
    }

    /// Returns the new samples of a part of the file.
    static func samples(
        in range: Range<Int64>, of file: ReadOnlyFile, _ names: inout NameTables, since: Int64
    ) throws -> [PackedSample] {
        var scanner = ExportScanner(names: names, isInside: true)
        var found: [PackedSample] = []
        var carried: [UInt8] = []
        var place = range.lowerBound
        while place < range.upperBound {
            let count = min(1 << 20, range.upperBound - place)
            let read = try file.bytes(at: place, count: Int(count))
            place = read.isEmpty ? range.upperBound : place + Int64(read.count)
            let bytes = carried + read
            var samples: [PackedSample] = []
            let consumed = try bytes.withUnsafeBytes { bytes in
                try scanner.scan(bytes, isLast: place >= range.upperBound, into: &samples)
            }
            carried = Array(bytes[consumed...])
            found += samples.filter { $0.start >= since }
        }
        names = scanner.names
        return found
    }
}
