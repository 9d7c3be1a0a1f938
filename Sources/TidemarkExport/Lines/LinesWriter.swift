import Foundation
import TidemarkModel
import TidemarkREST

/// Writes one database's documents as JSON lines. Memory does not grow with their number.
struct LinesWriter {
    private let place: String
    private let draft: String
    private let database: DatabaseID
    private let file: FileHandle
    private var waiting = Data()
    private var documents = 0

    /// Bytes that are written at once.
    private static let part = 1 << 16

    init(_ database: DatabaseID, to place: String) throws(ExportError) {
        self.database = database
        self.place = place
        try Self.checkMayReplace(place)
        let mark = try ExportDraft.file(beside: place)
        draft = mark.path
        file = FileHandle(fileDescriptor: mark.descriptor, closeOnDealloc: true)
        waiting = Self.line(["database": database.name])
    }

    private static func checkMayReplace(_ place: String) throws(ExportError) {
        guard FileManager.default.fileExists(atPath: place) else { return }
        let begin = Data(#"{"database":"projects/"#.utf8)
        let found = try? FileHandle(forReadingAtPath: place)?.read(upToCount: begin.count)
        if found != begin { throw .holdsSomethingElse(folder: place) }
    }

    private static func line(_ fields: [String: some Encodable]) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // A text or a number: there is nothing in it that JSON cannot say.
        return ((try? encoder.encode(fields)) ?? Data()) + Data("\n".utf8)
    }

    /// - Parameter document: Behind the one before it in the order of names.
    mutating func add(_ document: Document) throws(ExportError) {
        waiting += DocumentLine.data(document)
        waiting.append(UInt8(ascii: "\n"))
        documents += 1
        if waiting.count >= Self.part { try flush() }
    }

    private mutating func flush() throws(ExportError) {
        do { try file.write(contentsOf: waiting) } catch {
            throw .file(path: draft, reason: error.localizedDescription)
        }
        waiting.removeAll(keepingCapacity: true)
    }

    /// Puts the file in its place.
    ///
    /// - Returns: How many documents it has.
    mutating func finish() throws(ExportError) -> Int {
        waiting += Self.line(["documents": documents])
        try flush()
        do { try file.close() } catch {
            throw .file(path: draft, reason: error.localizedDescription)
        }
        guard rename(draft, place) == 0 else {
            throw .file(path: place, reason: String(cString: strerror(errno)))
        }
        return documents
    }

    /// Removes what was written. What was in its place stays.
    func abandon() { try? FileManager.default.removeItem(atPath: draft) }
}
