/// Where an export's bytes come from: a file, or an entry of a zip.
protocol ByteSource {
    /// Fills a part of the buffer; 0 at the end.
    mutating func read(
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(HealthExportError) -> Int
    /// How much of the file has been read, of how much: for a progress bar.
    var progress: (done: Int64, total: Int64) { get }
}

enum HealthExport {
    /// Opens an `export.xml` or the zip that holds one, by what is in it and not by its name.
    static func open(_ path: String) throws(HealthExportError) -> any ByteSource {
        let file = try ReadOnlyFile(path)
        let magic = try file.bytes(at: 0, count: 2)
        if magic.isEmpty { throw .notAnExport(file: file.name) }
        // As every zip begins.
        if magic == [0x50, 0x4B] { return try ZipEntryBytes(ZipDirectory.export(in: file)) }
        return PlainBytes(file)
    }
}

struct PlainBytes: ByteSource {
    private let file: ReadOnlyFile
    private var place: Int64 = 0

    init(_ file: ReadOnlyFile) { self.file = file }

    mutating func read(
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(HealthExportError) -> Int {
        let count = try file.read(into: buffer, at: place)
        place += Int64(count)
        return count
    }

    var progress: (done: Int64, total: Int64) { (place, max(place, file.size)) }
}
