import TidemarkObjects

/// Answers the requests of resumable uploads, in both protocols.
struct ObjectUploads: Sendable {
    /// The maximum number of times that a call is judged again because its object has changed.
    private static let maxJudgements = 8

    let server: ObjectsServer

    /// The answer to a request of an upload.
    struct Outcome: Sendable {
        let answer: UploadAnswer
        let session: UploadSession
        /// The object of a final upload; nil if it was replaced or deleted since.
        var object: StoredObject?
    }

    /// Performs a request of an upload.
    ///
    /// - Parameter event: Returns the machine's event for the number of the request.
    /// - Throws: ``ObjectRefusal`` for an unknown upload.
    func perform(
        _ session: UploadSession, by request: ObjectsRequest, event: (CallID) -> UploadEvent
    ) async throws(ObjectRefusal) -> Outcome {
        let call = server.desk.open(on: request.channel)
        defer { server.desk.close(call) }
        try await server.step(session.key, event(call.id))
        var made: StoredObject?
        for await directive in call.directives {
            switch directive {
            case .receive(let session, let span, let digest):
                await receive(request, of: session, span: span, after: digest, for: call)
            case .commit(let session, let size, let digest):
                made = await commit(session, by: request, size: size, digest: digest, for: call)
            case .answer(let answer, let session):
                return Outcome(
                    answer: answer, session: session,
                    object: try await object(of: answer, in: session, made: made))
            case .stop: break
            }
        }
        throw .unavailable("The upload cannot go on now. Ask for its state, and try again.")
    }

    /// Returns the object of a final upload.
    private func object(
        of answer: UploadAnswer, in session: UploadSession, made: StoredObject?
    ) async throws(ObjectRefusal) -> StoredObject? {
        guard case .final(let generation) = answer else { return nil }
        if let made { return made }
        let path = session.path
        let present = try await server.onCore { (core) throws(ObjectRefusal) in
            try core.objectIfExists(path)
        }
        return present?.version.generation == generation ? present : nil
    }

    private func receive(
        _ request: ObjectsRequest, of session: UploadSession, span: UploadSpan,
        after digest: BlobDigest?, for call: UploadCall
    ) async {
        do throws(ObjectRefusal) {
            let writer = try await writer(of: session, at: span.at, known: digest)
            let isComplete = try await ObjectBodies(server: server).pour(
                request, span: span, into: writer, for: call
            ) { (end) throws(ObjectRefusal) in
                try await server.step(session.key, .stored(upTo: end, call.id))
            }
            let end = try await server.disk.run {
                if isComplete { try writer.flush() }
                return try writer.sync()
            }
            try await server.step(
                session.key, .ended(upTo: end, isComplete: isComplete, call.id),
                digest: writer.digest)
        } catch {
            await step(session, .failed(error, call.id), for: call)
        }
    }

    /// Reports an error to the machine, which then answers the request.
    private func step(_ session: UploadSession, _ event: UploadEvent, for call: UploadCall) async {
        do throws(ObjectRefusal) { try await server.step(session.key, event) } catch {
            call.finish()
        }
    }

    /// Opens the file of an upload for the bytes after a position.
    private func writer(
        of session: UploadSession, at position: Int64, known digest: BlobDigest?
    ) async throws(ObjectRefusal) -> BlobWriter {
        let blobs = server.blobs
        return try await server.disk.run {
            if position == 0 { return try BlobWriter(new: session.blob, in: blobs) }
            let known = try digest ?? Self.digest(of: session.blob, upTo: position, in: blobs)
            return try BlobWriter(session.blob, after: known, in: blobs)
        }
    }

    /// Computes digests that are not known any more, because the server was restarted.
    private static func digest(
        of blob: BlobID, upTo size: Int64, in blobs: BlobFolder
    ) throws(ObjectRefusal) -> BlobDigest {
        guard let reader = try BlobReader(blob, in: blobs) else {
            throw .unavailable("The file of the upload is missing.")
        }
        return try reader.digest(upTo: size)
    }

    /// Makes the object of an upload whose bytes are complete.
    ///
    /// - Returns: The object; nil if it was refused.
    private func commit(
        _ started: UploadSession, by request: ObjectsRequest, size: Int64, digest: BlobDigest?,
        for call: UploadCall
    ) async -> StoredObject? {
        do throws(ObjectRefusal) {
            // Cloud Storage's client states the digests with the last bytes.
            var expected = started.plan.expected
            try expected.add(header: request.header("x-goog-hash"))
            let session = started.expecting(expected)
            let blobs = server.blobs
            let contents = try await server.disk.run {
                if let digest { return digest.contents }
                // An upload without bytes has no file yet.
                if size == 0 {
                    return try BlobWriter(new: session.blob, in: blobs).digest.contents
                }
                return try Self.digest(of: session.blob, upTo: size, in: blobs).contents
            }
            return try await judged(session.plan, contents) { (judged) throws(ObjectRefusal) in
                try await server.onCore { [desk = server.desk] (core) throws(ObjectRefusal) in
                    let (object, directives) = try core.commit(
                        session, contents: contents, judged: judged, by: call.id)
                    _ = desk.deliver(directives)
                    return object
                }
            }
        } catch {
            // A client tries again after an error of the server, and goes on with this upload.
            let isForGood = error.status < 500 && error.status != 429
            await step(started, .refused(error, isForGood: isForGood, call.id), for: call)
            return nil
        }
    }

    /// Makes an object of a blob that is complete and synced. A blob that becomes no object is
    /// removed.
    func put(
        _ plan: UploadPlan, _ whole: ObjectBodies.Whole
    ) async throws(ObjectRefusal) -> StoredObject {
        do throws(ObjectRefusal) {
            return try await judged(plan, whole.contents) { (judged) throws(ObjectRefusal) in
                try await server.onCore { (core) throws(ObjectRefusal) in
                    try core.put(
                        plan, blob: whole.blob, contents: whole.contents, judged: judged)
                }
            }
        } catch {
            await ObjectBodies(server: server).discard(whole.blob)
            throw error
        }
    }

    /// Judges an upload and performs it. If the object changes in between, it is judged again.
    private func judged(
        _ plan: UploadPlan, _ contents: ObjectContents,
        body: (JudgedVersion?) async throws(ObjectRefusal) -> StoredObject
    ) async throws(ObjectRefusal) -> StoredObject {
        for _ in 0..<Self.maxJudgements {
            let judged = try await server.access.judge(plan, contents)
            do throws(ObjectRefusal) { return try await body(judged) } catch {
                if error != JudgedVersion.changed { throw error }
            }
        }
        throw JudgedVersion.changed
    }
}
