import Foundation
package import TidemarkModel

/// Writes the documents of one database one by one in the official form. The memory does not depend
/// on the number of documents.
///
/// Equal documents produce equal bytes.
package struct ExportWriter {
    private let folder: String
    private let name: String
    private let entities: EntityWriter
    private var log: LogWriter?
    private var documents = 0
    private var newest: Int64 = 0

    private static let kind = "all_namespaces_all_kinds"
    private static let kindFolder = "all_namespaces/all_kinds"
    private static let output = "output-0"

    /// - Parameters:
    ///   - folder: The folder of the export. It is made.
    ///   - name: The prefix of the files' names.
    package init(
        _ database: DatabaseID, at folder: String, name: String
    ) throws(ExportError) {
        self.folder = folder
        self.name = name
        entities = EntityWriter(database)
        try ExportFiles.makeFolder(folder)
    }

    /// The file that describes the export, relative to the parent of the export's folder.
    package var metadataFile: String { "\(name)/\(name)\(ExportListing.overallSuffix)" }

    /// - Parameter document: The next document in the order of names. The order keeps the bytes
    ///   equal.
    package mutating func add(_ document: Document) throws(ExportError) {
        if log == nil {
            let kindFolder = folder + "/" + Self.kindFolder
            try ExportFiles.makeFolder(kindFolder)
            log = try LogWriter(kindFolder + "/" + Self.output)
        }
        try log?.append(entities.entity(document))
        documents += 1
        newest = max(newest, document.updateTime.microseconds)
    }

    /// Writes the metadata. The export is complete only after this call.
    ///
    /// - Returns: The number of documents in the export.
    package mutating func finish() throws(ExportError) -> Int {
        var overall: ExportMetadata.Overall?
        if var log {
            try log.finish()
            let file = "\(Self.kindFolder)/\(Self.kind).export_metadata"
            let kind = ExportMetadata.Kind(name: name, time: newest, outputs: [Self.output])
            let path = folder + "/" + file
            try ExportFiles.write(Data(ExportMetadata.bytes(kind)), to: path)
            overall = ExportMetadata.Overall(
                kindFile: file, documents: documents, bytes: log.size)
        }
        var metadata = try LogWriter(folder + "/" + name + ExportListing.overallSuffix)
        try metadata.append(ExportMetadata.version)
        try metadata.append(ExportMetadata.record(overall))
        try metadata.finish()
        return documents
    }
}
