import Hummingbird
import TidemarkModel
import TidemarkObjects

/// Answers the uploads of Firebase's clients. The three clients speak three dialects of the same
/// protocol. Source: storage A2.
struct FirebaseUploads: Sendable {
    /// The maximum size of an object: 5 TiB.
    static let maxBytes: Int64 = 5 << 40

    let api: FirebaseObjects
    private var request: ObjectsRequest { api.request }
    private var server: ObjectsServer { api.server }

    init(api: FirebaseObjects) { self.api = api }

    // MARK: Starts

    /// Starts a resumable upload, or takes an upload in one request.
    ///
    /// - Parameter name: The name in the path; nil if the query or the metadata states it.
    func start(name: String?) async throws(ObjectRefusal) -> ObjectsAnswer {
        let caller = try await api.caller()
        let name = name ?? request.query["name"]
        let commands = self.commands
        if commands.contains("start") { return try await begin(name, caller) }
        if !commands.isEmpty { throw .invalid("The upload has no upload_id.") }
        switch request.header("x-goog-upload-protocol")?.lowercased() {
        case "multipart": return try await multipart(name, caller)
        case nil where request.query["uploadType"] == "multipart":
            return try await multipart(name, caller)
        case nil where request.query["uploadType"] != "resumable":
            return try await plain(name, caller)
        default:
            return Self.missingCommand
        }
    }

    private var commands: Set<String> {
        let text = request.header("x-goog-upload-command") ?? ""
        return Set(text.split(separator: ",").map { $0.filter { $0 != " " }.lowercased() })
    }

    /// The production server's answer. Source: storage A3.
    private static let missingCommand = ObjectsAnswer.text(
        "Invalid request.  X-Goog-Upload-Command header is missing.", status: 400)

    private func begin(
        _ name: String?, _ caller: ObjectCaller
    ) async throws(ObjectRefusal) -> ObjectsAnswer {
        let declared = try declaredBytes()
        let form = try ObjectForm(try await request.collected())
        let type =
            request.header("x-goog-upload-header-content-type")
            ?? request.header("x-goog-upload-content-type")
        let plan = try plan(name, form: form, type: type, caller: caller)
        // The size decides in many rules. Without it, the rules decide at the end alone.
        if let declared {
            _ = try await server.access.judge(
                plan, ObjectContents(size: declared, md5: plan.expected.md5, crc32c: 0),
                isEarly: true)
        }
        let id = try await server.onCore { (core) throws(ObjectRefusal) in
            try core.startUpload(plan, dialect: .firebase, declared: declared)
        }
        let url =
            "\(request.origin)/v0/b/\(api.bucket)/o?name=\(ObjectJSON.escape(plan.path.name))"
            + "&upload_id=\(id)&upload_protocol=resumable"
        return ObjectsAnswer(headers: [
            ("X-Goog-Upload-URL", url), ("X-Goog-Upload-Control-URL", url),
            ("X-Goog-Upload-Status", UploadState.active.rawValue),
            ("X-Goog-Upload-Chunk-Granularity", "\(BlobWriter.granularity)"),
            ("X-GUploader-UploadID", id), ("X-Goog-Upload-Size-Received", "0"),
        ])
    }

    private func declaredBytes() throws(ObjectRefusal) -> Int64? {
        let text =
            request.header("x-goog-upload-header-content-length")
            ?? request.header("x-goog-upload-content-length")
        guard let text, !text.isEmpty else { return nil }
        guard let declared = ByteNumber.parse(text), declared <= Self.maxBytes else {
            throw .invalid("The declared size must be a number of at most 5 TiB.")
        }
        return declared
    }

    private func plan(
        _ name: String?, form: ObjectForm, type: String?, caller: ObjectCaller
    ) throws(ObjectRefusal) -> UploadPlan {
        var found = name
        if found == nil { found = try form.text("name") }
        guard let name = found, !name.isEmpty else { throw .invalid("The upload has no name.") }
        var (fields, tokens) = try form.fields()
        fields.contentType = fields.contentType ?? type ?? ObjectJSON.defaultType
        try fields.check()
        if tokens.isEmpty { tokens = [FirebaseObjects.newToken()] }
        return UploadPlan(
            path: try api.path(name), fields: fields, tokens: tokens,
            expected: try form.expected(), caller: caller)
    }

    // MARK: Uploads in one request

    private func multipart(
        _ name: String?, _ caller: ObjectCaller
    ) async throws(ObjectRefusal) -> ObjectsAnswer {
        guard let reader = MultipartReader(contentType: request.headers[.contentType]) else {
            let type = request.headers[.contentType] ?? ""
            return .text("Bad content type. \(type.prefix(200))", status: 400)
        }
        let whole = try await ObjectBodies(server: server).whole(request, reader)
        let plan: UploadPlan
        do throws(ObjectRefusal) {
            plan = try self.plan(
                name, form: try ObjectForm(whole.metadata), type: whole.dataType, caller: caller)
        } catch {
            await ObjectBodies(server: server).discard(whole.blob)
            throw error
        }
        return .json(ObjectJSON.firebase(try await ObjectUploads(server: server).put(plan, whole)))
    }

    private func plain(
        _ name: String?, _ caller: ObjectCaller
    ) async throws(ObjectRefusal) -> ObjectsAnswer {
        let plan = try plan(
            name, form: try ObjectForm([]), type: request.headers[.contentType],
            caller: caller)
        if let length = request.contentLength {
            _ = try await server.access.judge(
                plan, ObjectContents(size: length, md5: nil, crc32c: 0), isEarly: true)
        }
        let whole = try await ObjectBodies(server: server).whole(request)
        return .json(ObjectJSON.firebase(try await ObjectUploads(server: server).put(plan, whole)))
    }

    // MARK: Later requests of an upload

    /// Answers a request with an upload's id. The id is the permission: the client for iOS sends
    /// no token.
    func answer(upload id: String) async throws(ObjectRefusal) -> ObjectsAnswer {
        let session = try await server.onCore { (core) throws(ObjectRefusal) in
            try core.upload(id)
        }
        let commands = self.commands
        if commands.isEmpty { return Self.missingCommand }
        guard session.dialect == .firebase, session.path.bucket == api.bucket else {
            throw .noUpload
        }
        let uploads = ObjectUploads(server: server)
        let outcome: ObjectUploads.Outcome
        switch commands {
        case ["query"]: outcome = try await uploads.perform(session, by: request) { .query($0) }
        case ["cancel"]: outcome = try await uploads.perform(session, by: request) { .cancel($0) }
        case ["upload"], ["finalize"], ["upload", "finalize"]:
            let offset = request.header("x-goog-upload-offset").flatMap { ByteNumber.parse($0) }
            let chunk = UploadChunk(
                offset: offset, length: request.contentLength,
                isLast: commands.contains("finalize"))
            outcome = try await uploads.perform(session, by: request) { .chunk(chunk, $0) }
        default: throw .invalid("The value of X-Goog-Upload-Command is not known.")
        }
        return Self.answer(outcome)
    }

    private static func answer(_ outcome: ObjectUploads.Outcome) -> ObjectsAnswer {
        func status(
            _ state: UploadState, received: Int64?, answer: ObjectsAnswer
        ) -> ObjectsAnswer {
            answer.adding("X-Goog-Upload-Status", state.rawValue)
                .adding("X-Goog-Upload-Size-Received", received.map { "\($0)" })
                .adding("X-Goog-Upload-Chunk-Granularity", "\(BlobWriter.granularity)")
        }
        switch outcome.answer {
        case .active(let received):
            return status(.active, received: received, answer: ObjectsAnswer())
        case .final:
            let answer = outcome.object.map { ObjectsAnswer.json(ObjectJSON.firebase($0)) }
            return status(
                .final, received: outcome.object?.contents.size, answer: answer ?? ObjectsAnswer())
        case .cancelled:
            return status(.cancelled, received: nil, answer: ObjectsAnswer())
        case .refusal(let refusal, let state, let received):
            // The texts about offsets and sizes are plain in production.
            let answer: ObjectsAnswer =
                refusal.status == 400
                ? .text(refusal.message, status: 400) : .firebase(refusal)
            return status(state, received: received, answer: answer)
        }
    }
}
