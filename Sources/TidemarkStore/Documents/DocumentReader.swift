import TidemarkModel

/// A document read by a statement, with its row number.
package struct StoredRow {
    let id: Int64
    package let document: StoredDocument
}

extension Connection {
    /// Reads the row of a statement that selects ``OwnSQL``'s document columns.
    func row(_ statement: PreparedStatement) throws(StoreError) -> StoredRow {
        let path = try path(statement)
        guard let kind = StoredDocument.Kind(rawValue: statement.integer(3))
        else { throw .corrupt(detail: "document \(statement.integer(0))") }
        let createTime = try time(statement, 5)
        // Most documents are never changed.
        let isFirst = statement.integer(6) == statement.integer(5)
        let document = StoredDocument(
            path: path, kind: kind,
            contents: EncodedFields(trusted: statement.blob(4)),
            createTime: createTime, updateTime: isFirst ? createTime : try time(statement, 6),
            readTime: try time(statement, 7), hasCommittedMutations: statement.integer(8) != 0)
        return StoredRow(id: statement.integer(0), document: document)
    }

    /// Returns the path of a row's document.
    func path(_ statement: PreparedStatement) throws(StoreError) -> DocumentPath {
        let collection = try catalog.collection(id: statement.integer(1), self)
        guard let path = collection.document(named: statement.bytes(2)) else {
            throw .corrupt(detail: "document \(statement.integer(0))")
        }
        return path
    }

    /// Reads a time. An invalid time in a damaged file is an error and not a trap.
    func time(
        _ statement: PreparedStatement, _ column: Int32
    ) throws(StoreError) -> Timestamp {
        let microseconds = statement.integer(column)
        guard (Self.firstMicrosecond...Self.lastMicrosecond).contains(microseconds) else {
            throw .corrupt(detail: "a time of \(microseconds)")
        }
        return Timestamp(microseconds: microseconds)
    }

    private static let firstMicrosecond = Timestamp.min.microseconds
    private static let lastMicrosecond = Timestamp.max.microseconds

    func row(id: Int64) throws(StoreError) -> StoredRow? {
        let statement = try statement(.documentByID)
        defer { statement.release() }
        statement.bind(1, id)
        return try statement.step() ? row(statement) : nil
    }
}

extension DocumentPath {
    /// The document's id as ``KeyWriter`` writes it: its name inside its collection.
    var nameKey: [UInt8] {
        var text = text
        var writer = KeyWriter()
        text.withUTF8 { buffer in
            let slash = buffer.lastIndex(of: UInt8(ascii: "/")) ?? -1
            // Includes the type byte and the terminator; escaped bytes need more.
            writer.bytes.reserveCapacity(buffer.count - slash + 2)
            writer.append(segment: UnsafeBufferPointer(rebasing: buffer[(slash + 1)...]))
        }
        return writer.bytes
    }

    /// The encoded path, which is the document's name among documents of many collections.
    var pathKey: [UInt8] {
        var writer = KeyWriter()
        writer.append(path: text)
        return writer.bytes
    }
}
