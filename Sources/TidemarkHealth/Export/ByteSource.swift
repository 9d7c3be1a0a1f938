/// The source of an export's bytes: a file, or an entry of a zip.
protocol ByteSource {
    /// Fills a part of the buffer; 0 at the end.
    mutating func read(
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(HealthExportError) -> Int
    /// The number of bytes of the file that were read, and the size of the file: for a progress
    /// bar.
    var progress: (done: Int64, total: Int64) { get }
}

enum HealthExport {
    /// Opens an `export.xml` or a zip that contains one. The contents decide, and not the file's
    /// name.
    static func open(_ path: String) throws(HealthExportError) -> any ByteSource {
        let file = try ReadOnlyFile(path)
        let magic = try file.bytes(at: 0, count: 2)
        if magic.isEmpty { throw .notAnExport(file: file.name) }
        // Every zip begins with these bytes.
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
