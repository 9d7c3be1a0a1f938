/// The parts of a log's records, one at a time, so that a record of any size needs one block of
/// memory. Verifies every checksum, and that the last record is complete.
///
/// A record can be as large as the first result of a listen, because FirebaseFirestore stores that
/// in one write. `LogReader` of the model returns whole records, and bounds their size.
struct StorePieces {
    struct Piece {
        var bytes: ArraySlice<UInt8>
        /// The place of the bytes in the file.
        var place: Int
        var isFirst: Bool
        var isLast: Bool
    }

    private let file: StoreFile
    private var block: [UInt8] = []
    private var blockPlace = 0
    private var position = 0
    private var isInRecord = false
    /// True if the last record was ignored because its end is missing. LevelDB ignores such a
    /// record too.
    private(set) var hasTornEnd = false

    init(_ file: StoreFile) { self.file = file }

    /// Returns the next part, or nil at the end. The parts of a record whose end is missing are
    /// returned too, without a last one.
    mutating func next() throws(FirebaseStoreError) -> Piece? {
        guard let (part, range) = try nextPart() else {
            if isInRecord, !hasTornEnd { try endIsMissing() }
            isInRecord = false
            return nil
        }
        let isFirst = part == .full || part == .first
        let isLast = part == .full || part == .last
        if isFirst, isInRecord { throw file.corrupted("a record has no end.") }
        if !isFirst, !isInRecord { throw file.corrupted("a record has no beginning.") }
        isInRecord = !isLast
        return Piece(
            bytes: block[range], place: blockPlace + range.lowerBound, isFirst: isFirst,
            isLast: isLast)
    }

    private mutating func nextPart() throws(FirebaseStoreError) -> (LogFormat.Part, Range<Int>)? {
        while !hasTornEnd {
            if block.count - position < LogFormat.headerSize {
                // Zeros fill a remainder that is too short for a header.
                if block[position...].contains(where: { $0 != 0 }) {
                    try endIsMissing()
                    return nil
                }
                guard try readBlock() else { return nil }
                continue
            }
            if block[position + 6] == 0, length(at: position) == 0 {
                // Zeros fill the rest of a block that was allocated in advance.
                if block[position...].contains(where: { $0 != 0 }) {
                    throw file.corrupted("a header is not one.")
                }
                position = block.count
                continue
            }
            return try part()
        }
        return nil
    }

    private mutating func part() throws(FirebaseStoreError) -> (LogFormat.Part, Range<Int>)? {
        guard let part = LogFormat.Part(rawValue: block[position + 6]) else {
            throw file.corrupted("a record is of no known kind.")
        }
        let start = position + LogFormat.headerSize
        let end = start + length(at: position)
        guard end <= block.count else {
            try endIsMissing()
            return nil
        }
        guard isWhole(at: position) else {
            throw file.corrupted("a checksum does not agree with what it is of.")
        }
        position = end
        return (part, start..<end)
    }

    private func length(at place: Int) -> Int { Int(block[place + 4]) | Int(block[place + 5]) << 8 }

    /// - Precondition: The part ends within the block.
    private func isWhole(at place: Int) -> Bool {
        var stored: UInt32 = 0
        for index in 0..<4 { stored |= UInt32(block[place + index]) << (8 * UInt32(index)) }
        let start = place + LogFormat.headerSize
        return block[start..<(start + length(at: place))].withUnsafeBytes {
            Checksum.masked(type: block[place + 6], $0) == stored
        }
    }

    /// Ends the log where its writer was interrupted. This is valid only in the last block and if
    /// no complete record follows; otherwise, a length is damaged.
    private mutating func endIsMissing() throws(FirebaseStoreError) {
        guard block.count < LogFormat.blockSize || position == block.count, !hasLaterPart() else {
            throw file.corrupted("its end is missing.")
        }
        hasTornEnd = true
    }

    private func hasLaterPart() -> Bool {
        var place = position + 1
        while place + LogFormat.headerSize <= block.count {
            let end = place + LogFormat.headerSize + length(at: place)
            if LogFormat.Part(rawValue: block[place + 6]) != nil, end <= block.count,
                isWhole(at: place)
            {
                return true
            }
            place += 1
        }
        return false
    }

    private mutating func readBlock() throws(FirebaseStoreError) -> Bool {
        guard let next = try file.read(upTo: LogFormat.blockSize), !next.isEmpty else {
            return false
        }
        blockPlace += block.count
        block = next
        position = 0
        return true
    }
}
