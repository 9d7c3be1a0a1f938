/// Reads a log in LevelDB's format, one block at a time. Verifies every checksum, and that the last
/// record is complete.
package struct LogReader<Failure: Error> {
    /// Returns the next 32 KiB of the log, fewer bytes at its end, and nil or no bytes after it.
    package typealias Blocks = () throws(Failure) -> [UInt8]?

    private let nextBlock: Blocks
    private let damaged: (String) -> Failure
    private let allowsTornEnd: Bool
    private var block: [UInt8] = []
    private var position = 0
    /// True if the last record was ignored because its end is missing.
    package private(set) var hasTornEnd = false

    /// - Parameters:
    ///   - blocks: Reads the log's bytes.
    ///   - allowsTornEnd: If true, a last record without its end ends the log, as after a kill
    ///     during a write. If false, such a record is damage.
    ///   - damaged: Makes an error from a sentence about the damage.
    package init(
        blocks: @escaping Blocks, allowsTornEnd: Bool = false,
        damaged: @escaping (String) -> Failure
    ) {
        nextBlock = blocks
        self.allowsTornEnd = allowsTornEnd
        self.damaged = damaged
    }

    /// Returns the next record, or nil at the end.
    package mutating func next() throws(Failure) -> [UInt8]? {
        var record: [UInt8]?
        while let (part, bytes) = try nextPart() {
            switch (part, record) {
            case (.full, nil): return Array(bytes)
            case (.first, nil): record = Array(bytes)
            case (.middle, _?): record?.append(contentsOf: bytes)
            case (.last, _?):
                record?.append(contentsOf: bytes)
                return record
            case (.full, _?), (.first, _?): throw damaged("a record has no end.")
            case (.middle, nil), (.last, nil): throw damaged("a record has no beginning.")
            }
            if record?.count ?? 0 > LogFormat.maxRecordBytes {
                throw damaged("a record is larger than any document.")
            }
        }
        if record != nil { try endIsMissing() }
        return nil
    }

    private mutating func nextPart() throws(Failure) -> (LogFormat.Part, ArraySlice<UInt8>)? {
        while true {
            if block.count - position < LogFormat.headerSize {
                // A remainder too short for a header is filled with zeros; the file's end may have
                // none.
                if block[position...].contains(where: { $0 != 0 }) {
                    try endIsMissing()
                    return nil
                }
                guard try readBlock() else { return nil }
                continue
            }
            let kind = block[position + 6]
            let length = length(at: position)
            if kind == 0, length == 0 {
                // Zeros fill the rest of a block that was allocated in advance.
                if block[position...].contains(where: { $0 != 0 }) {
                    throw damaged("a header is not one.")
                }
                position = block.count
                continue
            }
            return try part(kind, length)
        }
    }

    private mutating func part(
        _ kind: UInt8, _ length: Int
    ) throws(Failure) -> (LogFormat.Part, ArraySlice<UInt8>)? {
        guard let part = LogFormat.Part(rawValue: kind) else {
            throw damaged("a record is of no known kind.")
        }
        let start = position + LogFormat.headerSize
        guard start + length <= block.count else {
            try endIsMissing()
            return nil
        }
        guard isWhole(at: position, kind, length) else {
            throw damaged("a checksum does not agree with what it is of.")
        }
        position = start + length
        return (part, block[start..<(start + length)])
    }

    private func length(at place: Int) -> Int { Int(block[place + 4]) | Int(block[place + 5]) << 8 }

    private func isWhole(at place: Int, _ kind: UInt8, _ length: Int) -> Bool {
        var stored: UInt32 = 0
        for index in 0..<4 { stored |= UInt32(block[place + index]) << (8 * UInt32(index)) }
        let start = place + LogFormat.headerSize
        return block[start..<(start + length)].withUnsafeBytes {
            Checksum.masked(type: kind, $0) == stored
        }
    }

    /// Ends the log where its writer was interrupted. This is valid only in the last block and if
    /// no complete record follows; otherwise, a length is damaged.
    private mutating func endIsMissing() throws(Failure) {
        guard allowsTornEnd, block.count < LogFormat.blockSize || position == block.count,
            !hasRecord(after: position)
        else { throw damaged("its end is missing.") }
        hasTornEnd = true
        block = []
        position = 0
    }

    private func hasRecord(after place: Int) -> Bool {
        var place = place + 1
        while place + LogFormat.headerSize <= block.count {
            let (kind, length) = (block[place + 6], length(at: place))
            if LogFormat.Part(rawValue: kind) != nil,
                place + LogFormat.headerSize + length <= block.count,
                isWhole(at: place, kind, length)
            {
                return true
            }
            place += 1
        }
        return false
    }

    private mutating func readBlock() throws(Failure) -> Bool {
        guard !hasTornEnd, let next = try nextBlock(), !next.isEmpty else { return false }
        block = next
        position = 0
        return true
    }
}
