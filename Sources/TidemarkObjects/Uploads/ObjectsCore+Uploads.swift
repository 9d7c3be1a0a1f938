import TidemarkStore

/// An upload in memory, with its machine.
struct LiveUpload {
    var session: UploadSession
    var machine: UploadMachine
    /// The digests of the stored bytes; nil if they are not known.
    var digest: BlobDigest?
}

/// The next step of a request.
package enum UploadDirective: Sendable {
    case receive(UploadSession, UploadSpan, after: BlobDigest?)
    case stop
    case commit(UploadSession, size: Int64, digest: BlobDigest?)
    case answer(UploadAnswer, UploadSession)
}

extension ObjectsCore {
    /// Starts an upload. Its row survives a kill of the process.
    ///
    /// - Returns: The id of the upload, which is the permission to continue it.
    package func startUpload(
        _ plan: UploadPlan, dialect: UploadDialect, declared: Int64?
    ) throws(ObjectRefusal) -> String {
        let id = Self.id(of: environment.randomBytes(48))
        let now = environment.now()
        let session = UploadSession(
            key: key(of: id), dialect: dialect, blob: newBlob(), declared: declared,
            startedAt: now, plan: plan)
        let oldest = now - Self.uploadLifetime
        live = live.filter { !$0.value.machine.isQuiet || $0.value.session.startedAt >= oldest }
        let busy = Set(live.keys)
        let expired: [BlobID]
        do {
            expired = try store.write(.process) { transaction in
                let table = UploadTable(transaction: transaction)
                let old = try table.removeOld(before: oldest, except: busy)
                guard try table.count(where: "phase = 0") < Self.maxOpenUploads else {
                    throw ObjectRefusal.tooManyUploads
                }
                try table.insert(session)
                return old
            }
        } catch { throw Self.refusal(error) }
        for blob in expired { removeIfUnused(blob) }
        return id
    }

    /// Encodes random bytes for a URL.
    private static func id(of bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        return String(bytes.map { letters[Int($0 & 63)] })
    }

    private func key(of id: String) -> [UInt8] { environment.digest(Array(id.utf8)) }

    /// - Throws: ``ObjectRefusal`` with status 404 for an unknown or expired upload.
    package func upload(_ id: String) throws(ObjectRefusal) -> UploadSession {
        try loaded(key(of: id)).session
    }

    private func loaded(_ key: [UInt8]) throws(ObjectRefusal) -> LiveUpload {
        let oldest = environment.now() - Self.uploadLifetime
        if let upload = live[key], !upload.machine.isQuiet || upload.session.startedAt >= oldest {
            return upload
        }
        let found = try read { try UploadTable(transaction: $0).upload(key) }
        guard let found, found.session.startedAt >= oldest else { throw .noUpload }
        var machine = found.machine
        let length = blobs.length(of: found.session.blob) ?? 0
        if machine.phase == .idle, length < machine.received {
            // The state of a cancelled upload was not stored, because the disk was full.
            machine = UploadMachine(
                dialect: machine.dialect, declared: machine.declared, received: 0, phase: .idle)
        }
        return LiveUpload(session: found.session, machine: machine, digest: nil)
    }

    /// Performs a step of an upload's machine.
    ///
    /// - Parameter digest: The digests of the stored bytes, with an event about bytes.
    /// - Returns: What the requests of the upload have to do next, in this order.
    package func step(
        _ key: [UInt8], _ event: UploadEvent, digest: BlobDigest? = nil
    ) throws(ObjectRefusal) -> [(call: CallID, directive: UploadDirective)] {
        var upload = try loaded(key)
        if let digest { upload.digest = digest }
        let effects = upload.machine.step(event)
        if upload.digest?.size != upload.machine.received { upload.digest = nil }
        var directives: [(CallID, UploadDirective)] = []
        let session = upload.session
        for effect in effects {
            switch effect {
            case .receive(let call, let span):
                directives.append((call, .receive(session, span, after: upload.digest)))
            case .stop(let call): directives.append((call, .stop))
            case .save: save(upload)
            case .commit(let call):
                let size = upload.machine.received
                directives.append((call, .commit(session, size: size, digest: upload.digest)))
            case .discard: removeIfUnused(session.blob)
            case .answer(let call, let answer): directives.append((call, .answer(answer, session)))
            }
        }
        keep(upload)
        return directives
    }

    private func keep(_ upload: LiveUpload) {
        let isKept =
            !upload.machine.isQuiet || upload.digest != nil && upload.machine.phase == .idle
        live[upload.session.key] = isKept ? upload : nil
        if live.count > Self.maxKeptDigests {
            live = live.filter { !$0.value.machine.isQuiet }
        }
    }

    /// Stores the state of an upload. It need not be synced and can fail: the bytes are synced, and
    /// a client whose upload is known to have fewer bytes after a restart sends the rest again.
    private func save(_ upload: LiveUpload) {
        let now = environment.now()
        try? store.write(.process) {
            try UploadTable(transaction: $0).save(
                upload.machine, of: upload.session.key, now: now)
        }
    }

    /// Makes the object of an upload, and ends the upload, in one synced transaction.
    ///
    /// - Throws: ``JudgedVersion/changed``, after which the call is judged again. For every other
    ///   refusal the caller sends `refused`.
    package func commit(
        _ session: UploadSession, contents: ObjectContents, judged: JudgedVersion?, by call: CallID
    ) throws(ObjectRefusal) -> (
        object: StoredObject, directives: [(call: CallID, directive: UploadDirective)]
    ) {
        var upload = try loaded(session.key)
        let now = environment.now()
        let (object, replaced, effects) = try write { transaction in
            let (object, replaced) = try Self.put(
                session.plan, blob: session.blob, contents: contents, judged: judged, now: now,
                in: transaction)
            let effects = upload.machine.step(
                .committed(generation: object.version.generation, call))
            try UploadTable(transaction: transaction).save(
                upload.machine, of: session.key, now: now)
            return (object, replaced, effects)
        }
        live[session.key] = nil
        removeIfUnused(replaced)
        var directives: [(CallID, UploadDirective)] = []
        for case .answer(let call, let answer) in effects {
            directives.append((call, .answer(answer, session)))
        }
        return (object, directives)
    }

    package func openUploads(limit: Int) throws(ObjectRefusal) -> [OpenUpload] {
        try read { try UploadTable(transaction: $0).open(limit: limit) }
    }
}
