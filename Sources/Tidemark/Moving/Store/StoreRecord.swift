/// Reads the entries of one record of a log from its parts. Of a value, only the bytes are kept
/// that somebody wants.
struct StoreRecord {
    /// The part of an entry that is kept.
    enum Keeping {
        case nothing, place, value
    }

    /// The place of a value in a log; the headers of blocks can lie within it.
    struct Place {
        var start: Int
        var count: Int
    }

    struct Entry {
        /// LevelDB's sequence number, counted from the first entry of the record.
        var number: UInt64
        var key: [UInt8]
        /// The place of the value; nil for a deletion.
        var place: Place?
        /// The bytes; nil for a deletion, or if only the place is kept.
        var value: [UInt8]?
    }

    private enum Step {
        case head, kind, keySize, key, valueSize, value
    }

    /// The number of the first entry and the number of entries.
    private static let headSize = 12
    /// The maximum size of a key in bytes. A key holds a path, or the text of a query.
    private static let largestKey = 16 << 20

    private let keeping: ([UInt8]) -> Keeping
    private var step = Step.head
    private var bytes: [UInt8] = []
    private var number: UInt64 = 0
    private var shift: UInt64 = 0
    private var missing = StoreRecord.headSize
    private var first: UInt64 = 0
    private var count = 0
    private var seen = 0
    private var kept = Keeping.nothing
    private var entry = Entry(number: 0, key: [])
    /// The kept entries so far. They count when the record is complete.
    private(set) var entries: [Entry] = []

    /// - Parameter keeping: Returns how much of the entry with this key is kept.
    init(keeping: @escaping ([UInt8]) -> Keeping) { self.keeping = keeping }

    /// True if no entry is incomplete and there are as many as the record says.
    var isComplete: Bool { step == .kind && seen == count }

    /// Reads a part of the record.
    ///
    /// - Parameter place: The place of the first byte in the file.
    /// - Returns: False for bytes that are not entries.
    mutating func take(_ piece: ArraySlice<UInt8>, at place: Int) -> Bool {
        var rest = piece
        while !rest.isEmpty {
            let here = place + rest.startIndex - piece.startIndex
            let isGood =
                switch step {
                case .head, .key, .value: takeBytes(&rest, at: here)
                case .kind: takeKind(rest.removeFirst())
                case .keySize, .valueSize: takeSize(rest.removeFirst())
                }
            if !isGood { return false }
        }
        return true
    }

    private mutating func takeBytes(_ rest: inout ArraySlice<UInt8>, at place: Int) -> Bool {
        if step == .value, entry.place == nil {
            entry.place = Place(start: place, count: missing)
        }
        let taken = rest.prefix(missing)
        if step != .value || kept == .value { bytes += taken }
        rest = rest.dropFirst(taken.count)
        missing -= taken.count
        return missing > 0 || endBytes()
    }

    private mutating func endBytes() -> Bool {
        defer { bytes.removeAll(keepingCapacity: true) }
        switch step {
        case .head:
            first = bytes[..<8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
            count = bytes[8...].reversed().reduce(0) { $0 << 8 | Int($1) }
            step = .kind
        case .key:
            entry.key = bytes
            kept = keeping(bytes)
            if isDeletion { endEntry() } else { startSize(.valueSize) }
        case .value:
            if kept == .value { entry.value = bytes }
            endEntry()
        case .kind, .keySize, .valueSize: return false
        }
        return true
    }

    private var isDeletion = false

    private mutating func takeKind(_ kind: UInt8) -> Bool {
        guard kind <= 1, seen < count else { return false }
        isDeletion = kind == 0
        entry = Entry(number: first &+ UInt64(seen), key: [])
        startSize(.keySize)
        return true
    }

    private mutating func startSize(_ next: Step) {
        (step, number, shift) = (next, 0, 0)
    }

    private mutating func takeSize(_ byte: UInt8) -> Bool {
        guard shift < 35 else { return false }
        number |= UInt64(byte & 0x7F) << shift
        shift += 7
        if byte >= 0x80 { return true }
        missing = Int(number)
        if step == .keySize {
            guard missing <= Self.largestKey else { return false }
            step = .key
        } else {
            step = .value
        }
        if missing > 0 { return true }
        if step == .value { entry.place = Place(start: 0, count: 0) }
        return endBytes()
    }

    private mutating func endEntry() {
        seen += 1
        step = .kind
        if kept != .nothing { entries.append(entry) }
    }
}
