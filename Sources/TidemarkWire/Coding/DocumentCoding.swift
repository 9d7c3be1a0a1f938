import Foundation
import TidemarkModel

extension Names {
    func encode(_ document: Document) -> Data {
        Data(
            DocumentCodec.encode(
                WireDocument(
                    name: name(document.path), contents: document.contents,
                    createTime: document.createTime, updateTime: document.updateTime)))
    }

    /// Encodes a document for a request: a name and fields.
    func encode(_ path: DocumentPath, _ fields: MapValue) -> Data {
        Data(
            DocumentCodec.encode(
                WireDocument(name: name(path), contents: EncodedFields(fields))))
    }

    /// Decodes a document of a request.
    static func decodeFields(
        _ data: Data
    ) throws(RPCStatus) -> (name: String, fields: MapValue) {
        try data.withUnsafeBytes { buffer -> Result<(name: String, fields: MapValue), RPCStatus> in
            do throws(CodecError) { return .success(try DocumentCodec.decodeFields(buffer)) } catch
            {
                return .failure(RPCStatus(error))
            }
        }.get()
    }

    static func decode(_ data: Data) throws(RPCStatus) -> WireDocument {
        try data.withUnsafeBytes { buffer -> Result<WireDocument, RPCStatus> in
            do throws(CodecError) { return .success(try DocumentCodec.decode(buffer)) } catch {
                return .failure(RPCStatus(error))
            }
        }.get()
    }

    /// Decodes a document of a response, with its times.
    func document(_ data: Data) throws(RPCStatus) -> Document {
        let wire = try Self.decode(data)
        guard let document = try self.document(wire) else {
            throw .invalidArgument("The document \"\(wire.name)\" has no update time.")
        }
        return document
    }

    /// Returns nil for a document without times: it does not exist, and the server listed only its
    /// name.
    func document(_ wire: WireDocument) throws(RPCStatus) -> Document? {
        let path = try document(wire.name)
        guard let updateTime = wire.updateTime else { return nil }
        return Document(
            path: path, contents: wire.contents, createTime: wire.createTime ?? updateTime,
            updateTime: updateTime)
    }
}
