import Foundation
import TidemarkModel
import TidemarkREST

/// Writes the documents of one database as JSON lines. The memory does not depend on the number of
/// documents.
struct LinesWriter {
    private let place: String
    private let draft: String
    private let database: DatabaseID
    private let file: FileHandle
    private var waiting = Data()
    private var documents = 0

    /// The bytes that are collected before a write.
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
        // JSON can represent all texts and numbers.
        return ((try? encoder.encode(fields)) ?? Data()) + Data("\n".utf8)
    }

    /// - Parameter document: The next document in the order of names.
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

    /// Moves the file to its final place.
    ///
    /// - Returns: The number of documents in the file.
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

    /// Removes the new file. A file at the final place remains.
    func abandon() { try? FileManager.default.removeItem(atPath: draft) }
}
