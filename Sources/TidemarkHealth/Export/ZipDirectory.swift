/// The position and the compression of an entry of a zip, from the directory at the file's end. The
/// local header can leave the sizes to a descriptor behind the data; the directory always has them.
struct ZipEntry {
    let file: ReadOnlyFile
    let name: String
    /// 0: stored, 8: deflated.
    let method: UInt16
    let checksum: UInt32
    let packedSize: Int64
    let size: Int64
    /// The offset of the local header.
    let offset: Int64
}

/// Reads a zip's directory, with or without the 64-bit extension.
enum ZipDirectory {
    /// Exports hold a few hundred entries (routes, electrocardiograms).
    static let maxSize: Int64 = 64 << 20

    /// Returns the entry with the records: `export.xml`, whose name is translated in some
    /// languages.
    static func export(in file: ReadOnlyFile) throws(HealthExportError) -> ZipEntry {
        let entries = try entries(in: file)
        let pages = entries.filter { entry in
            let name = entry.name.lowercased()
            return name.hasSuffix(".xml") && !name.hasSuffix("_cda.xml")
        }
        let exact = pages.first { entry in
            entry.name == "export.xml" || entry.name.hasSuffix("/export.xml")
        }
        guard let found = exact ?? pages.max(by: { $0.size < $1.size }) else {
            throw .notAnExport(file: file.name)
        }
        return found
    }

    static func entries(in file: ReadOnlyFile) throws(HealthExportError) -> [ZipEntry] {
        let (start, size, count) = try place(in: file)
        guard start >= 0, size >= 0, size <= maxSize, start + size <= file.size else {
            throw damaged(file, "its directory is not where it should be")
        }
        let bytes = try read(file, at: start, count: Int(size))
        var entries: [ZipEntry] = []
        var place = 0
        while entries.count < count {
            guard place + 46 <= bytes.count, bytes.number32(place) == 0x0201_4B50 else {
                throw damaged(file, "its directory is damaged")
            }
            let nameLength = Int(bytes.number16(place + 28))
            let extraLength = Int(bytes.number16(place + 30))
            let commentLength = Int(bytes.number16(place + 32))
            let next = place + 46 + nameLength + extraLength + commentLength
            guard next <= bytes.count else { throw damaged(file, "its directory is damaged") }
            let extra = bytes[(place + 46 + nameLength)..<(place + 46 + nameLength + extraLength)]
            if let entry = entry(
                file, bytes: bytes, place: place, nameLength: nameLength, extra: Array(extra))
            {
                entries.append(entry)
            } else {
                throw damaged(file, "its directory is damaged")
            }
            place = next
        }
        return entries
    }

    private static func entry(
        _ file: ReadOnlyFile, bytes: [UInt8], place: Int, nameLength: Int, extra: [UInt8]
    ) -> ZipEntry? {
        let flags = bytes.number16(place + 8)
        var packed = Int64(bytes.number32(place + 20))
        var size = Int64(bytes.number32(place + 24))
        var offset = Int64(bytes.number32(place + 42))
        let full = Int64(UInt32.max)
        if size == full || packed == full || offset == full {
            guard var field = zip64(extra) else { return nil }
            for value in [size == full, packed == full, offset == full].enumerated()
            where value.element {
                guard let number = field.popFirst() else { return nil }
                switch value.offset {
                case 0: size = number
                case 1: packed = number
                default: offset = number
                }
            }
        }
        let name = String(decoding: bytes[(place + 46)..<(place + 46 + nameLength)], as: UTF8.self)
        guard packed >= 0, size >= 0, offset >= 0, offset < file.size else { return nil }
        return ZipEntry(
            file: file, name: name,
            // An encrypted entry is packed in a way we do not know.
            method: flags & 1 == 1 ? .max : bytes.number16(place + 10),
            checksum: bytes.number32(place + 16), packedSize: packed, size: size, offset: offset)
    }

    /// Returns the numbers of the 64-bit extension, as many as it has.
    private static func zip64(_ extra: [UInt8]) -> ArraySlice<Int64>? {
        var place = 0
        while place + 4 <= extra.count {
            let length = Int(extra.number16(place + 2))
            guard place + 4 + length <= extra.count else { return nil }
            if extra.number16(place) == 1 {
                let numbers = stride(from: place + 4, to: place + 4 + length - 7, by: 8)
                return numbers.map { Int64(truncatingIfNeeded: extra.number64($0)) }[...]
            }
            place += 4 + length
        }
        return nil
    }

    /// Returns the offset of the directory, its size, and the number of its entries.
    private static func place(
        in file: ReadOnlyFile
    ) throws(HealthExportError) -> (Int64, Int64, Int) {
        // The end record, which a comment of up to 64 kB can follow.
        let tailSize = Int(min(file.size, 65_557))
        let tailStart = file.size - Int64(tailSize)
        let tail = try read(file, at: tailStart, count: tailSize)
        guard
            let end = stride(from: tail.count - 22, through: 0, by: -1).first(where: {
                tail.number32($0) == 0x0605_4B50
            })
        else { throw damaged(file, "its end is missing") }
        let count = tail.number16(end + 10)
        let size = tail.number32(end + 12)
        let start = tail.number32(end + 16)
        guard count == .max || size == .max || start == .max else {
            return (Int64(start), Int64(size), Int(count))
        }
        guard end >= 20, tail.number32(end - 20) == 0x0706_4B50 else {
            return (Int64(start), Int64(size), Int(count))
        }
        let large = Int64(truncatingIfNeeded: tail.number64(end - 12))
        guard large >= 0, large <= file.size - 56 else {
            throw damaged(file, "its end is damaged")
        }
        let record = try read(file, at: large, count: 56)
        guard record.number32(0) == 0x0606_4B50, record.number64(32) <= 1_000_000 else {
            throw damaged(file, "its end is damaged")
        }
        return (
            Int64(truncatingIfNeeded: record.number64(48)),
            Int64(truncatingIfNeeded: record.number64(40)), Int(record.number64(32))
        )
    }

    private static func read(
        _ file: ReadOnlyFile, at place: Int64, count: Int
    ) throws(HealthExportError) -> [UInt8] {
        let bytes = try file.bytes(at: place, count: count)
        guard bytes.count == count else { throw damaged(file, "it is cut off") }
        return bytes
    }

    private static func damaged(_ file: ReadOnlyFile, _ detail: String) -> HealthExportError {
        .badArchive(file: file.name, detail: detail)
    }
}

extension [UInt8] {
    fileprivate func number16(_ place: Int) -> UInt16 {
        UInt16(self[place]) | UInt16(self[place + 1]) << 8
    }
    fileprivate func number32(_ place: Int) -> UInt32 {
        UInt32(number16(place)) | UInt32(number16(place + 2)) << 16
    }
    fileprivate func number64(_ place: Int) -> UInt64 {
        UInt64(number32(place)) | UInt64(number32(place + 4)) << 32
    }
}
