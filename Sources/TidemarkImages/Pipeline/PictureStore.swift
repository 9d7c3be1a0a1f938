import Foundation
import Synchronization

/// The file of a picture: a file of the cache, or a temporary file that its last user deletes
/// because the picture is not kept.
final class StoredPicture: Sendable {
    let record: PictureRecord
    let path: String
    let isFromNetwork: Bool
    let isStale: Bool
    /// True if the server allows a single use and no storage (`no-store`).
    let mustNotBeKept: Bool
    /// Retains a temporary file; nil for a file of the cache.
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

    /// The file is missing, or differs from the stored file.
    struct Gone: Error {}

    func open() throws -> MappedFile {
        guard let file = MappedFile(path), file.bytes.count == record.byteCount else {
            throw Gone()
        }
        return file
    }

    /// Throws ``Gone`` if the digest differs: a disk can lose data, and a decoder accepts nearly
    /// all bytes.
    func check(_ file: MappedFile) throws {
        if Hexadecimal.digest(file.bytes) != record.digest { throw Gone() }
    }
}

/// The disk cache with its downloads. Thread-safe.
final class PictureStore: Sendable {
    private let disk: DiskCache
    private let downloader: Downloader
    private let wallClock: @Sendable () -> Int64
    private let lane = BlockingLane("tidemark.pictures.disk", isConcurrent: false)
    /// The pictures that were removed while callers waited for them. Their pending results are not
    /// kept.
    private let dropped = Mutex<Set<PictureID>>([])

    init(
        _ disk: DiskCache, downloader: Downloader, wallClock: @escaping @Sendable () -> Int64
    ) {
        self.disk = disk
        self.downloader = downloader
        self.wallClock = wallClock
    }

    var use: (bytes: Int, pictures: Int) { (disk.bytes, disk.count) }

    // MARK: Reading

    /// Returns a stored small picture, if it can be shown without a check with the server.
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

    /// Returns the file of a picture: the kept file if it can be shown, or a file from the server.
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
            // The owner of the picture removed it, so it must not be shown again.
            if error.isGone { await remove(id) }
            if record.validity.mustAsk || error.recovery == .showPlaceholder { throw error }
            // An old picture is better than no picture.
            return StoredPicture(record, path: kept, isFromNetwork: false, isStale: true)
        }
    }

    private func download(
        _ request: PictureRequest, _ known: PictureRecord?
    ) async throws -> StoredPicture {
        let id = request.id
        let outcome = try await downloader.download(
            request, known: known?.validity, to: { [disk] in disk.unfinishedPath() })
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

    /// Moves a download into the cache. If the server, the user or the free room does not allow
    /// that, the file stays temporary.
    private func take(
        _ file: UnfinishedFile, _ request: PictureRequest
    ) async throws -> StoredPicture {
        let id = request.id
        let now = wallClock()
        let (byteCount, digest, fields) = file.summary()
        let validity = Validity(fields, now: now)
        let record = PictureRecord(
            address: request.key, version: request.version, digest: digest,
            byteCount: byteCount, validity: validity ?? .nothing(at: now))
        let mayKeep = validity != nil && !isDropped(id)
        let isKept = try await lane.run { [disk] in
            // A picture that cannot be kept is still shown.
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

    /// Stores a small picture beside its picture, in the background.
    func keep(_ picture: Picture, sized: SizedID, record: PictureRecord) {
        if picture.byteCount > SmallFile.maximumPixelBytes || isDropped(sized.id) { return }
        lane.begin { [disk] in
            // A small picture that cannot be kept is decoded again.
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
