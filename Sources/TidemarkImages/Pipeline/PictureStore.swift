import Foundation
import Synchronization

/// A picture's file: the cache's, or one that goes with its last user because the server wants nothing
/// kept.
final class StoredPicture: Sendable {
    let record: PictureRecord
    let path: String
    let isFromNetwork: Bool
    let isStale: Bool
    /// Whether the server wants it shown once and not kept (`no-store`).
    let mustNotBeKept: Bool
    /// Keeps the file; nil for the cache's.
    private let unfinished: UnfinishedFile?

    var isTemporary: Bool { unfinished != nil }

    init(
        _ record: PictureRecord, path: String, isFromNetwork: Bool, isStale: Bool = false,
        mustNotBeKept: Bool = false, unfinished: UnfinishedFile? = nil
    ) {
        self.record = record
        self.path = path
        self.isFromNetwork = isFromNetwork
        self.isStale = isStale
        self.mustNotBeKept = mustNotBeKept
        self.unfinished = unfinished
    }

    /// It is not there any more, or not what was stored.
    struct Gone: Error {}

    func open() throws -> MappedFile {
        guard let file = MappedFile(path), file.bytes.count == record.byteCount else {
            throw Gone()
        }
        return file
    }

    /// Disks forget, and a decoder makes a picture of nearly anything.
    func check(_ file: MappedFile) throws {
        if Hexadecimal.digest(file.bytes) != record.digest { throw Gone() }
    }
}

/// The disk cache and what fills it. Thread-safe.
final class PictureStore: Sendable {
    private let disk: DiskCache
    private let downloader: Downloader
    private let wallClock: @Sendable () -> Int64
    private let lane = BlockingLane("tidemark.pictures.disk", isConcurrent: false)
    /// Removed while somebody waited for them: what still comes is not kept.
    private let dropped = Mutex<Set<PictureID>>([])

    init(
        _ disk: DiskCache, _ downloader: Downloader, _ wallClock: @escaping @Sendable () -> Int64
    ) {
        self.disk = disk
        self.downloader = downloader
        self.wallClock = wallClock
    }

    var use: (bytes: Int, pictures: Int) { (disk.bytes, disk.count) }

    // MARK: Reading

    /// A small picture that was kept, if it may be shown without asking.
    func small(
        _ sized: SizedID, asksFirst: Bool
    ) async throws -> (picture: Picture, record: PictureRecord, isStale: Bool)? {
        try await lane.run { [disk, wallClock] in
            let now = wallClock()
            guard let record = disk.record(sized.id, now: now) else { return nil }
            let isStale = !record.isFresh(at: now)
            if isStale, asksFirst || record.validity.mustAsk { return nil }
            return disk.small(sized, of: record).map { ($0, record, isStale) }
        }
    }

    /// The file of a picture: the one that is there, if it may be shown, or the server's.
    ///
    /// - Throws: ``PictureError``, `CancellationError`.
    func obtain(_ request: PictureRequest, asksFirst: Bool) async throws -> StoredPicture {
        let id = request.id
        let record = try await lane.run { [disk, wallClock] in disk.record(id, now: wallClock()) }
        guard let record else { return try await download(request, nil) }
        let kept = disk.path(record, id)
        if record.isFresh(at: wallClock()) {
            return StoredPicture(record, path: kept, isFromNetwork: false)
        }
        if !asksFirst, !record.validity.mustAsk {
            return StoredPicture(record, path: kept, isFromNetwork: false, isStale: true)
        }
        do {
            return try await download(request, record)
        } catch let error as PictureError {
            // Whoever took it away wants it seen no more.
            if error.isGone { await remove(id) }
            if record.validity.mustAsk || error.recovery == .showPlaceholder { throw error }
            // A picture of yesterday says more than none.
            return StoredPicture(record, path: kept, isFromNetwork: false, isStale: true)
        }
    }

    private func download(
        _ request: PictureRequest, _ known: PictureRecord?
    ) async throws -> StoredPicture {
        let id = request.id
        let outcome = try await downloader.download(
            request.address, id, known: known?.validity, to: { [disk] in disk.unfinishedPath() })
        switch outcome {
        case .notModified(let fields):
            guard let known else { throw PictureError.damaged }
            return try await renew(known, by: fields, id)
        case .file(let file): return try await take(file, request)
        }
    }

    private func renew(
        _ known: PictureRecord, by fields: HTTPFields, _ id: PictureID
    ) async throws -> StoredPicture {
        var record = known
        let now = wallClock()
        record.validity = known.validity.renewed(by: fields, now: now) ?? known.validity
        let renewed = record
        try? await lane.run { [disk] in try disk.update(renewed, id, now: now) }
        return StoredPicture(renewed, path: disk.path(renewed, id), isFromNetwork: false)
    }

    /// Into the cache, unless the server, the user or the room there is will not have it.
    private func take(
        _ file: UnfinishedFile, _ request: PictureRequest
    ) async throws -> StoredPicture {
        let id = request.id
        let now = wallClock()
        let (byteCount, digest, fields) = file.summary()
        let validity = Validity(fields, now: now)
        let record = PictureRecord(
            address: request.address, version: request.version, digest: digest,
            byteCount: byteCount, validity: validity ?? .nothing(at: now))
        let mayKeep = validity != nil && !isDropped(id)
        let isKept = try await lane.run { [disk] in
            // What cannot be kept is shown all the same.
            mayKeep ? (try? disk.store(record, id, from: file.path, now: now)) ?? false : false
        }
        if isKept {
            return StoredPicture(record, path: disk.path(record, id), isFromNetwork: true)
        }
        return StoredPicture(
            record, path: file.path, isFromNetwork: true, mustNotBeKept: validity == nil,
            unfinished: file)
    }

    // MARK: Writing

    /// Beside its picture, soon.
    func keep(_ picture: Picture, _ sized: SizedID, _ record: PictureRecord) {
        if picture.byteCount > SmallFile.maximumPixelBytes || isDropped(sized.id) { return }
        lane.begin { [disk] in
            // One that cannot be kept is decoded again.
            try? disk.store(small: picture, sized, of: record)
        }
    }

    // MARK: Removing

    func drop(_ id: PictureID, isWanted: Bool) {
        if isWanted { dropped.withLock { _ = $0.insert(id) } }
        downloader.forget(id)
    }

    func isDropped(_ id: PictureID) -> Bool { dropped.withLock { $0.contains(id) } }
    func isWantedNoMore(_ id: PictureID) { dropped.withLock { _ = $0.remove(id) } }
    func remove(_ id: PictureID) async { try? await lane.run { [disk] in disk.remove(id) } }

    func removeAll() async {
        downloader.forgetAll()
        try? await lane.run { [disk] in disk.removeAll() }
    }

    func settle() async { try? await lane.run {} }
}
