import TidemarkModel

extension Names {
    func encode(_ document: Document) -> MessageBytes {
        MessageBytes(
            DocumentCodec.encode(
                WireDocument(
                    name: name(document.path), contents: document.contents,
                    createTime: document.createTime, updateTime: document.updateTime)))
    }

    /// Encodes a document for a request: a name and fields.
    func encode(_ path: DocumentPath, _ fields: MapValue) -> MessageBytes {
        MessageBytes(
            DocumentCodec.encode(
                WireDocument(name: name(path), contents: EncodedFields(fields))))
    }

    /// Decodes a document of a request.
    static func decodeFields(
        _ bytes: MessageBytes
    ) throws(RPCStatus) -> (name: String, fields: MapValue) {
        try bytes.withBytes { bytes -> Result<(name: String, fields: MapValue), RPCStatus> in
            do throws(CodecError) {
                return .success(try DocumentCodec.decodeFields(UnsafeRawBufferPointer(bytes)))
            } catch {
                return .failure(RPCStatus(error))
            }
        }.get()
    }

    static func decode(_ bytes: MessageBytes) throws(RPCStatus) -> WireDocument {
        try bytes.withBytes { bytes -> Result<WireDocument, RPCStatus> in
            do throws(CodecError) {
                return .success(try DocumentCodec.decode(UnsafeRawBufferPointer(bytes)))
            } catch {
                return .failure(RPCStatus(error))
            }
        }.get()
    }

    /// Decodes a document of a response, with its times.
    func document(_ bytes: MessageBytes) throws(RPCStatus) -> Document {
        let wire = try Self.decode(bytes)
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
