import TidemarkModel
import TidemarkObjects

/// An object whose file is open, so that its bytes can be read after the object is replaced.
struct OpenedObject: Sendable {
    let object: StoredObject
    /// The reader of the file; nil if the caller asked for the metadata alone.
    let reader: BlobReader?

    /// - Throws: ``ObjectRefusal`` with status 503 if the file is missing.
    init(_ object: StoredObject, in blobs: BlobFolder, opens: Bool) throws(ObjectRefusal) {
        self.object = object
        guard opens else {
            reader = nil
            return
        }
        guard let reader = try BlobReader(object.blob, in: blobs),
            reader.size >= object.contents.size
        else { throw .unavailable("The file of the object is missing or too short.") }
        self.reader = reader
    }
}

/// Answers a download: all bytes, or the bytes of a range.
struct ObjectDownload {
    let request: ObjectsRequest

    func answer(_ opened: OpenedObject) throws(ObjectRefusal) -> ObjectsAnswer {
        guard let reader = opened.reader else { return ObjectsAnswer(status: 500) }
        let object = opened.object
        let tag = "\"\(object.etag)\""
        var answer = ObjectsAnswer(headers: headers(object, tag))
        if let known = request.header("if-none-match"), Self.names(known, tag) {
            answer.status = 304
            return answer
        }
        if let wanted = request.header("if-match"), !Self.names(wanted, tag) {
            throw .conditionNotMet
        }
        let size = object.contents.size
        var range = request.header("range")
        // A client that continues another version's download gets the whole object.
        if let version = request.header("if-range"), version != tag { range = nil }
        switch DownloadRange(range, size: size) {
        case .whole:
            answer.body = .blob(reader, first: 0, count: size)
            return answer
        case .part(let first, let count):
            answer.status = 206
            answer.body = .blob(reader, first: first, count: count)
            return answer.adding("Content-Range", "bytes \(first)-\(first + count - 1)/\(size)")
        case .unsatisfiable:
            return ObjectsAnswer.text("The requested range cannot be satisfied.", status: 416)
                .adding("Content-Range", "bytes */\(size)")
        }
    }

    private static func names(_ header: String, _ tag: String) -> Bool {
        header.split(separator: ",").contains { part in
            let text = part.drop { $0 == " " }
            return text == "*" || text == tag || text == "W/" + tag
        }
    }

    private func headers(_ object: StoredObject, _ tag: String) -> [(name: String, value: String)] {
        var hash = "crc32c=\(Base64Form.text(of: object.contents.crcBytes))"
        if let md5 = object.contents.md5 { hash += ",md5=\(Base64Form.text(of: md5))" }
        var headers: [(name: String, value: String)] = [
            ("Content-Type", object.fields.contentType ?? ObjectJSON.defaultType),
            ("Accept-Ranges", "bytes"), ("ETag", tag),
            ("Content-Disposition", ObjectJSON.disposition(object)),
            ("Cache-Control", object.fields.cacheControl ?? "private, max-age=0"),
            ("x-goog-generation", "\(object.version.generation)"),
            ("x-goog-metageneration", "\(object.version.metageneration)"),
            ("x-goog-storage-class", "STANDARD"), ("x-goog-hash", hash),
            ("x-goog-stored-content-length", "\(object.contents.size)"),
            ("x-goog-stored-content-encoding", object.fields.contentEncoding ?? "identity"),
            // A page of this origin could call the other ports of this machine, so the scripts of
            // an uploaded page run in an origin of their own. Other pages may show the bytes.
            ("Content-Security-Policy", "sandbox"),
            ("Cross-Origin-Resource-Policy", "cross-origin"),
        ]
        if let encoding = object.fields.contentEncoding, encoding != "identity" {
            headers.append(("Content-Encoding", encoding))
        }
        if let language = object.fields.contentLanguage {
            headers.append(("Content-Language", language))
        }
        return headers
    }
}
