import Testing
import TidemarkModel

@testable import TidemarkObjects

/// Resumable uploads over restarts of the server.
struct UploadStorageTests {
    private let block = BlobWriter.granularity

    private func data(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    }

    /// Performs one request, as the shell does.
    ///
    /// - Parameter cut: The number of bytes after which the connection breaks; nil for none.
    private func send(
        _ objects: TestObjects, _ id: String, _ call: CallID, from offset: Int, _ bytes: [UInt8],
        isLast: Bool, cutAt cut: Int? = nil
    ) throws -> UploadAnswer? {
        let key = try objects.core.upload(id).key
        let chunk = UploadChunk(
            offset: Int64(offset), length: Int64(bytes.count), isLast: isLast)
        var steps = try objects.core.step(key, .chunk(chunk, call))
        while !steps.isEmpty {
            switch steps.removeFirst().directive {
            case .receive(let session, let span, let known):
                let folder = objects.core.blobs
                let writer: BlobWriter
                if span.at == 0 {
                    writer = try BlobWriter(new: session.blob, in: folder)
                } else {
                    let reader = try #require(try BlobReader(session.blob, in: folder))
                    let digest = try known ?? reader.digest(upTo: span.at)
                    writer = try BlobWriter(session.blob, after: digest, in: folder)
                }
                try Array(bytes.prefix(cut ?? bytes.count)).withUnsafeBytes {
                    try writer.append($0)
                }
                if cut == nil { try writer.flush() }
                let end = try writer.sync()
                steps = try objects.core.step(
                    key, .ended(upTo: end, isComplete: cut == nil, call), digest: writer.digest)
            case .commit(let session, let size, let known):
                let reader = try #require(try BlobReader(session.blob, in: objects.core.blobs))
                let contents = try (known ?? reader.digest(upTo: size)).contents
                steps = try objects.core.commit(
                    session, contents: contents, judged: nil, by: call
                ).directives
            case .answer(let answer, _): return answer
            case .stop: break
            }
        }
        return nil
    }

    private func start(_ objects: TestObjects, declared: Int64? = nil) throws -> String {
        try objects.core.startUpload(
            UploadPlan(path: try objects.path("a")), dialect: .firebase, declared: declared)
    }

    @Test(arguments: [false, true])
    func `a cut upload goes on at whole blocks`(restarts: Bool) throws {
        let objects = try TestObjects()
        let all = data(3 * block + 77)
        let id = try start(objects, declared: Int64(all.count))
        let cut = try send(objects, id, 1, from: 0, all, isLast: true, cutAt: 2 * block + 5)
        #expect(cut == .refusal(.cutOff, state: .active, received: Int64(2 * block)))
        #expect(try objects.core.objectIfExists(try objects.path("a")) == nil, "no half object")
        if restarts { try objects.restart() }
        let rest = Array(all[(2 * block)...])
        let answer = try send(objects, id, 2, from: 2 * block, rest, isLast: true)
        let object = try objects.core.object(try objects.path("a"))
        #expect(answer == .final(generation: object.version.generation))
        var expected = BlobDigest()
        all.withUnsafeBytes { expected.update($0) }
        #expect(object.contents == expected.contents)
        let reader = try #require(try BlobReader(object.blob, in: objects.core.blobs))
        #expect(try reader.digest(upTo: reader.size).contents == expected.contents)
    }

    @Test func `a final upload is known after a restart`() throws {
        let objects = try TestObjects()
        let id = try start(objects)
        guard case .final(let generation) = try send(objects, id, 1, from: 0, [1, 2], isLast: true)
        else {
            Issue.record("it is not final")
            return
        }
        try objects.restart()
        let again = try send(objects, id, 1, from: 0, [1, 2], isLast: true)
        #expect(again == .final(generation: generation))
        #expect(try objects.core.object(try objects.path("a")).version.generation == generation)
    }

    @Test func `an upload of more than a week is unknown, and its bytes are removed`() throws {
        let objects = try TestObjects()
        let id = try start(objects)
        _ = try send(objects, id, 1, from: 0, data(block), isLast: false)
        #expect(objects.files == 1)
        objects.wait(7 * 86_400 - 1)
        _ = try objects.core.upload(id)
        objects.wait(2)
        #expect(throws: ObjectRefusal.noUpload) { try objects.core.upload(id) }
        _ = try start(objects)
        #expect(objects.files == 0)
    }

    @Test func `an id is not stored`() throws {
        let objects = try TestObjects()
        let id = try start(objects)
        #expect(id.utf8.count == 48)
        #expect(throws: ObjectRefusal.noUpload) { try objects.core.upload(id + "x") }
        #expect(try objects.core.upload(id).key != Array(id.utf8))
    }

    @Test func `a process that ends in the commit keeps the upload open`() throws {
        let objects = try TestObjects()
        let id = try start(objects, declared: 3)
        objects.fail(at: .beforeCommit)
        #expect(throws: ObjectRefusal.self) {
            try send(objects, id, 1, from: 0, [1, 2, 3], isLast: true)
        }
        try objects.restart()
        #expect(try objects.core.objectIfExists(try objects.path("a")) == nil)
        let answer = try send(objects, id, 2, from: 3, [], isLast: true)
        let object = try objects.core.object(try objects.path("a"))
        #expect(answer == .final(generation: object.version.generation))
        #expect(object.contents.size == 3)
    }

    @Test func `open uploads are listed without their ids`() throws {
        let objects = try TestObjects()
        let id = try start(objects, declared: 1_000_000)
        _ = try send(objects, id, 1, from: 0, data(block), isLast: false)
        let open = try objects.core.openUploads(limit: 10)
        #expect(open.map(\.received) == [Int64(block)])
        #expect(open.map(\.path.name) == ["a"])
        #expect(open.map(\.declared) == [1_000_000])
    }
}
