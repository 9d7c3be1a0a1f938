import Hummingbird
import TidemarkModel
import TidemarkObjects

/// Answers the uploads of Cloud Storage's clients: resumable, multipart and plain.
struct CloudUploads: Sendable {
    let api: CloudObjects
    let bucket: String
    private var request: ObjectsRequest { api.request }
    private var server: ObjectsServer { api.server }

    init(api: CloudObjects, bucket: String) {
        self.api = api
        self.bucket = bucket
    }

    func start() async throws(ObjectRefusal) -> ObjectsAnswer {
        guard ["POST", "PUT"].contains(request.method) else {
            throw ObjectRefusal(405, reason: "methodNotAllowed", message: "Method Not Allowed")
        }
        switch request.query["uploadType"] {
        case "resumable": return try await begin()
        case "multipart": return try await multipart()
        case "media":
            let path = try ObjectPath(bucket: bucket, name: request.query["name"] ?? "")
            return api.resource(try await plain(path))
        default: throw .invalid("uploadType must be media, multipart or resumable.")
        }
    }

    private func plan(_ form: ObjectForm, type: String?) throws(ObjectRefusal) -> UploadPlan {
        var name = request.query["name"]
        if name == nil { name = try form.text("name") }
        var (fields, tokens) = try form.fields()
        fields.contentType = fields.contentType ?? type
        try fields.check()
        var expected = try form.expected()
        try expected.add(header: request.header("x-goog-hash"))
        return UploadPlan(
            path: try ObjectPath(bucket: bucket, name: name ?? ""), fields: fields, tokens: tokens,
            conditions: try request.query.conditions(), expected: expected)
    }

    private func begin() async throws(ObjectRefusal) -> ObjectsAnswer {
        var declared: Int64?
        if let text = request.header("x-upload-content-length") {
            guard let number = ByteNumber.parse(text), number <= FirebaseUploads.maxBytes else {
                throw .invalid("X-Upload-Content-Length must be a number of at most 5 TiB.")
            }
            declared = number
        }
        let form = try ObjectForm(try await request.collected())
        let plan = try plan(form, type: request.header("x-upload-content-type"))
        let size = declared
        let id = try await server.onCore { (core) throws(ObjectRefusal) -> String in
            // A condition that fails now fails before the bytes are sent.
            try plan.conditions.check(try core.objectIfExists(plan.path)?.version)
            return try core.startUpload(plan, dialect: .cloud, declared: size)
        }
        let location =
            "\(request.origin)/upload/storage/v1/b/\(bucket)/o?uploadType=resumable"
            + "&name=\(ObjectJSON.escape(plan.path.name))&upload_id=\(id)"
        return ObjectsAnswer(headers: [("Location", location), ("X-GUploader-UploadID", id)])
    }

    private func multipart() async throws(ObjectRefusal) -> ObjectsAnswer {
        guard let reader = MultipartReader(contentType: request.headers[.contentType]) else {
            throw .invalid("The content type must be multipart/related with a boundary.")
        }
        let whole = try await ObjectBodies(server: server).whole(request, reader)
        let plan: UploadPlan
        do throws(ObjectRefusal) {
            plan = try self.plan(try ObjectForm(whole.metadata), type: whole.dataType)
        } catch {
            await ObjectBodies(server: server).discard(whole.blob)
            throw error
        }
        return api.resource(try await ObjectUploads(server: server).put(plan, whole))
    }

    /// Takes a body as the bytes of an object.
    func plain(_ path: ObjectPath) async throws(ObjectRefusal) -> StoredObject {
        var plan = UploadPlan(path: path, conditions: try request.query.conditions())
        plan.fields.contentType = request.headers[.contentType]
        for field in request.headers where field.name.canonicalName.hasPrefix("x-goog-meta-") {
            plan.fields.custom[String(field.name.canonicalName.dropFirst(12))] = field.value
        }
        try plan.fields.check()
        try plan.expected.add(header: request.header("x-goog-hash"))
        let whole = try await ObjectBodies(server: server).whole(request)
        return try await ObjectUploads(server: server).put(plan, whole)
    }

    // MARK: Later requests of a resumable upload

    func answer(upload id: String) async throws(ObjectRefusal) -> ObjectsAnswer {
        let session = try await server.onCore { (core) throws(ObjectRefusal) -> UploadSession in
            try core.upload(id)
        }
        guard session.dialect == .cloud, session.path.bucket == bucket else { throw .noUpload }
        let event = try event()
        let outcome = try await ObjectUploads(server: server).perform(
            session, by: request, event: event)
        return answer(outcome)
    }

    private func event() throws(ObjectRefusal) -> (CallID) -> UploadEvent {
        switch request.method {
        case "DELETE": return { .cancel($0) }
        case "PUT", "POST": break
        default: throw ObjectRefusal(405, reason: "methodNotAllowed", message: "Method Not Allowed")
        }
        let chunk: UploadChunk
        if let header = request.header("content-range") {
            guard let range = ContentRange(header) else {
                throw .invalid("The header Content-Range cannot be read.")
            }
            switch range {
            case .none(nil): return { .query($0) }
            case .none(let total): chunk = UploadChunk(offset: nil, length: nil, total: total)
            case .bytes(let first, let count, let total):
                chunk = UploadChunk(offset: first, length: count, total: total)
            }
        } else {
            // A request without the header has the whole object.
            guard let length = request.contentLength else {
                throw .invalid("The request has neither Content-Range nor Content-Length.")
            }
            chunk = UploadChunk(offset: 0, length: length, total: length)
        }
        return { .chunk(chunk, $0) }
    }

    private func answer(_ outcome: ObjectUploads.Outcome) -> ObjectsAnswer {
        switch outcome.answer {
        case .active(let received): return incomplete(received)
        case .final:
            return outcome.object.map { api.resource($0) } ?? .json(.object([:]))
        case .cancelled: return ObjectsAnswer(status: 499)
        case .refusal(let refusal, let state, let received):
            if state == .cancelled { return .text(refusal.message, status: 410) }
            let answer: ObjectsAnswer =
                refusal.status >= 500
                ? .text(refusal.message, status: refusal.status) : .cloud(refusal)
            return answer.adding("Range", received > 0 ? "bytes=0-\(received - 1)" : nil)
        }
    }

    /// Answers that the upload is not complete. Source: storage C4.
    private func incomplete(_ received: Int64) -> ObjectsAnswer {
        var answer = ObjectsAnswer(status: 308)
        if request.header("x-guploader-no-308")?.lowercased() == "yes" {
            answer.status = 200
            answer.headers.append(("X-HTTP-Status-Code-Override", "308"))
        }
        return answer.adding("Range", received > 0 ? "bytes=0-\(received - 1)" : nil)
    }
}
