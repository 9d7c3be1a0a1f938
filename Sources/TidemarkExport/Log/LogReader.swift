import Foundation

/// Reads a LevelDB log a block at a time. It checks each checksum, and that the last record is whole.
struct LogReader {
    private let file: FileHandle
    private let path: String
    private var block: [UInt8] = []
    private var position = 0

    init(_ path: String) throws(ExportError) {
        self.path = path
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw .file(path: path, reason: "there is no such file, or it cannot be read")
        }
        self.file = file
    }

    /// The next record; nil at the end.
    mutating func next() throws(ExportError) -> [UInt8]? {
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
        if record != nil { throw damaged("its end is missing.") }
        return nil
    }

    private mutating func nextPart() throws(ExportError) -> (LogFormat.Part, ArraySlice<UInt8>)? {
        while true {
            if block.count - position < LogFormat.headerSize {
                // Less than a header is filled with zeros; at the file's end there may be nothing.
                if block[position...].contains(where: { $0 != 0 }) {
                    throw damaged("its end is missing.")
                }
                guard try readBlock() else { return nil }
                continue
            }
            let kind = block[position + 6]
            let length = Int(block[position + 4]) | Int(block[position + 5]) << 8
            if kind == 0, length == 0 {
                // The rest of a block that was made in advance.
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
    ) throws(ExportError) -> (LogFormat.Part, ArraySlice<UInt8>) {
        guard let part = LogFormat.Part(rawValue: kind) else {
            throw damaged("a record is of no known kind.")
        }
        let start = position + LogFormat.headerSize
        guard start + length <= block.count else { throw damaged("its end is missing.") }
        var stored: UInt32 = 0
        for index in 0..<4 { stored |= UInt32(block[position + index]) << (8 * UInt32(index)) }
        let bytes = block[start..<(start + length)]
        guard bytes.withUnsafeBytes({ Checksum.masked(type: kind, $0) }) == stored else {
            throw damaged("a checksum does not agree with what it is of.")
        }
        position = start + length
        return (part, bytes)
    }

    private mutating func readBlock() throws(ExportError) -> Bool {
        do {
            guard let data = try file.read(upToCount: LogFormat.blockSize), !data.isEmpty else {
                return false
            }
            block = Array(data)
        } catch { throw .file(path: path, reason: "\(error.localizedDescription)") }
        position = 0
        return true
    }

    private func damaged(_ problem: String) -> ExportError {
        .damaged(path: path, problem: problem)
    }
}
