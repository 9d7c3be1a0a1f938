import Foundation
import TidemarkModel
import TidemarkREST

/// Reads documents one by one from JSON lines.
struct LinesReader: DocumentReader {
    private let path: String
    private let database: DatabaseID

    /// Reads the first line.
    init(_ path: String) throws(ExportError) {
        self.path = path
        var lines = try Lines(path)
        guard let first = try lines.next(), let name = first["database"]?.text,
            let database = try? DatabaseID(name: name)
        else {
            throw .damaged(
                path: path,
                problem: #"The first line is not {"database":"projects/P/databases/D"}."#)
        }
        self.database = database
    }

    func check() throws(ExportError) -> ExportContents {
        var contents = ExportContents(
            projects: [database.project], databases: [database.database])
        var documents = Documents(lines: try Lines(path), database: database)
        while try documents.next() != nil { contents.documents += 1 }
        return contents
    }

    func batches(
        of size: Int, _ body: ([Mutation]) async throws(ExportError) -> Void
    ) async throws(ExportError) {
        var documents = Documents(lines: try Lines(path), database: database)
        var batch: [Mutation] = []
        while let mutation = try documents.next() {
            batch.append(mutation)
            if batch.count >= size {
                try await body(batch)
                batch.removeAll(keepingCapacity: true)
            }
        }
        if !batch.isEmpty { try await body(batch) }
    }
}

/// The documents of a file, without its first and its last line.
private struct Documents {
    var lines: Lines
    let database: DatabaseID
    private var count = 0

    init(lines: Lines, database: DatabaseID) {
        self.lines = lines
        self.database = database
    }

    mutating func next() throws(ExportError) -> Mutation? {
        if lines.number == 0 { _ = try lines.next() }
        guard let line = try lines.next() else {
            throw lines.damaged(
                """
                the end of the file is missing.
                """)
        }
        if let expected = line["documents"] {
            guard case .integer(Int64(count)) = expected else {
                let text = String(decoding: JSONWriter.bytes(of: expected), as: UTF8.self)
                throw lines.damaged("only \(count) of \(text.prefix(100)) documents are there.")
            }
            if try lines.next() != nil { throw lines.damaged("there is text after the last line.") }
            return nil
        }
        count += 1
        do throws(RPCStatus) { return try DocumentLine.mutation(line, of: database) } catch {
            throw lines.damaged("line \(lines.number): \(error.message)")
        }
    }
}

/// The lines of a file, each a JSON object. Empty lines are skipped.
private struct Lines {
    private let path: String
    private let file: FileHandle
    private var waiting = Data()
    private var isAtEnd = false
    private(set) var number = 0

    private static let part = 1 << 16

    init(_ path: String) throws(ExportError) {
        self.path = path
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw .file(path: path, reason: "there is no such file, or it cannot be read")
        }
        self.file = file
    }

    mutating func next() throws(ExportError) -> JSONObject? {
        while let data = try nextLine() {
            number += 1
            if data.allSatisfy({ $0 <= 0x20 }) { continue }
            guard case .object(let object)? = try? JSONValue(Array(data)) else {
                throw damaged("line \(number) is not a JSON object.")
            }
            return object
        }
        return nil
    }

    private mutating func nextLine() throws(ExportError) -> Data? {
        var searched = waiting.startIndex
        while true {
            if let end = waiting[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { waiting = waiting[(end + 1)...] }
                return Data(waiting[..<end])
            }
            if waiting.count > LinesForm.maxLineBytes {
                throw damaged("line \(number + 1) is longer than a document can be.")
            }
            if isAtEnd {
                if waiting.isEmpty { return nil }
                defer { waiting = Data() }
                return waiting
            }
            let part: Data
            do { part = try file.read(upToCount: Self.part) ?? Data() } catch {
                throw .file(path: path, reason: error.localizedDescription)
            }
            isAtEnd = part.isEmpty
            // The copy releases the memory of lines that were read.
            waiting = Data(waiting) + part
            searched = waiting.startIndex + max(0, waiting.count - part.count)
        }
    }

    func damaged(_ problem: String) -> ExportError { .damaged(path: path, problem: problem) }
}
