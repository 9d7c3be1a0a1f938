import HummingbirdCore
import NIOCore
import TidemarkObjects
import TidemarkWire

/// Writes the bodies of requests to files, in bounded memory.
struct ObjectBodies: Sendable {
    /// The budget of all bodies that are being read.
    static let budget = BodyBudget(limit: 128 << 20)
    /// The memory that one request holds at most, in bytes.
    private static let memory = 1 << 20
    /// The number of bytes that are collected before a thread writes them.
    private static let pieceBytes = BlobWriter.granularity
    /// The number of bytes after which a long upload is synced, so that a kill costs at most these.
    private static let checkpointBytes: Int64 = 32 << 20

    let server: ObjectsServer

    /// Writes the bytes of a resumable upload's request.
    ///
    /// - Parameter stored: Called when a part of the bytes is synced, with the end of the part.
    /// - Returns: True if all bytes of the request were written.
    func pour(
        _ request: ObjectsRequest, span: UploadSpan, into writer: BlobWriter, for call: UploadCall,
        stored: (Int64) async throws(ObjectRefusal) -> Void
    ) async throws(ObjectRefusal) -> Bool {
        let share = try Self.share()
        defer { withExtendedLifetime(share) {} }
        var skip = span.skip
        var room = span.most
        var buffer = ByteBuffer()
        do {
            for try await var part in request.body {
                if call.isStopped { return false }
                if skip > 0 {
                    let count = min(skip, Int64(part.readableBytes))
                    part.moveReaderIndex(forwardBy: Int(count))
                    skip -= count
                }
                if let left = room {
                    guard Int64(part.readableBytes) <= left else {
                        throw ObjectRefusal.invalid(
                            "The body has more bytes than the request or the upload declares.")
                    }
                    room = left - Int64(part.readableBytes)
                }
                buffer.writeBuffer(&part)
                if buffer.readableBytes >= Self.pieceBytes {
                    if let end = try await write(buffer, to: writer) { try await stored(end) }
                    buffer = ByteBuffer()
                }
            }
        } catch {
            if let refusal = error as? ObjectRefusal { throw refusal }
            // The connection has failed. The bytes so far stay.
            _ = try await write(buffer, to: writer)
            return false
        }
        _ = try await write(buffer, to: writer)
        // In Cloud Storage's protocol, the header states the number of bytes.
        let isWhole = room == nil || room == 0 || request.header("content-range") == nil
        return !call.isStopped && isWhole && skip == 0
    }

    /// - Returns: The end of the synced bytes, if a long upload was synced.
    private func write(
        _ buffer: ByteBuffer, to writer: BlobWriter
    ) async throws(ObjectRefusal) -> Int64? {
        try await server.disk.run {
            try buffer.withUnsafeReadableBytes { try writer.append($0) }
            guard writer.digest.size - writer.syncedBytes >= Self.checkpointBytes else {
                return nil
            }
            return try writer.sync()
        }
    }

    private static func share() throws(ObjectRefusal) -> BodyBudget.Share {
        let share = budget.share()
        guard share.grow(by: memory) else {
            throw .unavailable("The bodies of other requests take all room.")
        }
        return share
    }

    /// The bytes of an upload in one request.
    struct Whole: Sendable {
        let blob: BlobID
        let contents: ObjectContents
        /// The metadata of a body in two parts; empty for another body.
        var metadata: [UInt8] = []
        /// The content type of the data's part.
        var dataType: String?
    }

    /// Writes the whole body of a request to a new blob, and syncs it. On an error, the blob is
    /// removed.
    ///
    /// - Parameter reader: Splits a body in two parts; nil for a body of data alone.
    func whole(
        _ request: ObjectsRequest, _ reader: MultipartReader? = nil
    ) async throws(ObjectRefusal) -> Whole {
        let share = try Self.share()
        defer { withExtendedLifetime(share) {} }
        let blobs = server.blobs
        let blob = try await server.onCore { core in core.newBlob() }
        do throws(ObjectRefusal) {
            let writer = try await server.disk.run { try BlobWriter(new: blob, in: blobs) }
            var reader = reader
            try await pourWhole(request, &reader, into: writer)
            if let reader, !reader.isComplete {
                throw .invalid("Bad content of a multipart/related body. It ends early.")
            }
            let contents = try await server.disk.run {
                try writer.flush()
                try writer.sync()
                return writer.digest.contents
            }
            return Whole(
                blob: blob, contents: contents, metadata: reader?.metadata ?? [],
                dataType: reader?.dataType)
        } catch {
            await discard(blob)
            throw error
        }
    }

    private func pourWhole(
        _ request: ObjectsRequest, _ reader: inout MultipartReader?, into writer: BlobWriter
    ) async throws(ObjectRefusal) {
        var buffer = ByteBuffer()
        do {
            for try await var part in request.body {
                if reader == nil {
                    buffer.writeBuffer(&part)
                } else {
                    let data = try part.withUnsafeReadableBytes { try reader?.feed($0) }
                    buffer.writeBytes(data ?? [])
                }
                if buffer.readableBytes >= Self.pieceBytes {
                    _ = try await write(buffer, to: writer)
                    buffer = ByteBuffer()
                }
            }
        } catch { throw error as? ObjectRefusal ?? .cutOff }
        _ = try await write(buffer, to: writer)
    }

    /// Removes a blob that becomes no object.
    func discard(_ blob: BlobID) async {
        let blobs = server.blobs
        try? await server.disk.run { blobs.discard(blob) }
    }
}
