import Foundation
import Synchronization

/// A cache of pictures on the disk, bounded by size and age. It evicts the least recently used
/// picture first. Each file is written under another name and renamed, so a kill at any point
/// leaves a cache that opens.
///
/// The folder belongs to this cache and to a single process. Each call can touch the disk, so the
/// caller must run it where a wait is allowed; the first call reads the folder, a file at a time.
/// Thread-safe.
final class DiskCache: Sendable {
    private let folder: URL
    /// The folder of files in progress and of interrupted downloads. The first use empties it.
    private let leftovers: URL
    private let openedAt: Int64
    private let index: Mutex<DiskIndex>
    /// True if the index matches the folder. The lock is held while the folder is read.
    private let isLoaded = Mutex(false)
    /// The time of a file is the time of its last use, to the hour: the cache does not write it
    /// more often.
    private static let touchAfter: Int64 = 3_600_000

    /// Creates the folder if it is missing, and reads nothing in it: an app that launches opens the
    /// cache long before it shows a picture.
    ///
    /// - Parameters:
    ///   - now: Milliseconds since 1970.
    ///   - maximumAge: The time in milliseconds after which an unused picture is removed.
    /// - Throws: The file system's error.
    init(_ folder: URL, limit: Int, maximumAge: Int64, now: Int64) throws {
        self.folder = folder
        leftovers = folder.appendingPathComponent("unfinished")
        openedAt = now
        index = Mutex(DiskIndex(limit: limit, maximumAge: maximumAge))
        try FileManager.default.createDirectory(at: leftovers, withIntermediateDirectories: true)
        guard access(folder.path, R_OK | W_OK | X_OK) == 0 else {
            throw CocoaError(.fileReadNoPermission)
        }
    }

    var bytes: Int { withIndex { $0.bytes } }
    var count: Int { withIndex { $0.count } }

    // MARK: The first use

    /// - Returns: The result of `body`, which runs when the index matches the folder.
    private func withIndex<Result>(
        _ body: (inout sending DiskIndex) -> sending Result
    ) -> sending Result {
        isLoaded.withLock { isLoaded in
            if isLoaded { return }
            isLoaded = true
            removeLeftovers()
            let found = sweep()
            discard(index.withLock { $0.load(found, now: openedAt) })
        }
        return index.withLock(body)
    }

    /// No download has begun a file yet, because its path is requested after this call.
    private func removeLeftovers() {
        let names = try? FileManager.default.contentsOfDirectory(atPath: leftovers.path)
        for name in names ?? [] {
            try? FileManager.default.removeItem(at: leftovers.appendingPathComponent(name))
        }
    }

    /// Groups the existing files by picture, and removes files that belong to no picture.
    private func sweep() -> [PictureID: DiskIndex.Entry] {
        var found: [PictureID: DiskIndex.Entry] = [:]
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name != leftovers.lastPathComponent {
            let file = folder.appendingPathComponent(name)
            guard let id = PictureID(name.prefix(32)), let bytes = size(name) else {
                try? FileManager.default.removeItem(at: file)
                continue
            }
            var entry = found[id] ?? DiskIndex.Entry(files: [:], lastUsed: .min)
            entry.files[name] = bytes
            if name == PictureRecord.name(id) { entry.lastUsed = lastUse(of: file) ?? .min }
            found[id] = entry
        }
        return found.compactMapValues(whole)
    }

    /// Returns the time of the last write of a record's file, in milliseconds since 1970.
    private func lastUse(of file: URL) -> Int64? {
        let values = try? file.resourceValues(forKeys: [.contentModificationDateKey])
        return values?.contentModificationDate.map { Int64($0.timeIntervalSince1970 * 1_000) }
    }

    /// Returns the entry of a picture's files; nil if there is no record.
    private func whole(_ entry: DiskIndex.Entry) -> DiskIndex.Entry? {
        let names = Array(entry.files.keys)
        guard let id = names.first.flatMap({ PictureID($0.prefix(32)) }),
            entry.files[PictureRecord.name(id)] != nil, entry.lastUsed != .min
        else {
            discard(names)
            return nil
        }
        // There is more than one body, because the process was killed while a body replaced
        // another.
        if names.count(where: { $0.hasSuffix(".body") }) == 1 { return entry }
        guard let record = read(id) else {
            discard(names)
            return nil
        }
        var entry = entry
        discard(names.filter { !record.owns($0, id) })
        entry.files = entry.files.filter { record.owns($0.key, id) }
        return entry.files[record.bodyName(id)] == nil ? nil : entry
    }

    // MARK: Reading

    /// Returns the record of a picture whose bytes are present, and marks the picture as used.
    func record(_ id: PictureID, now: Int64) -> PictureRecord? {
        guard let before = withIndex({ $0.use(id, now: now) }) else { return nil }
        guard let record = read(id), size(record.bodyName(id)) == record.byteCount else {
            remove(id)
            return nil
        }
        if abs(now - before) > Self.touchAfter { touch(id, now) }
        return record
    }

    func path(_ record: PictureRecord, _ id: PictureID) -> String { path(record.bodyName(id)) }

    /// Returns a small picture; nil if it is missing or damaged. A damaged one is removed.
    func small(_ sized: SizedID, of record: PictureRecord) -> Picture? {
        let name = record.smallName(sized)
        guard withIndex({ $0.entry(sized.id)?.files[name] }) != nil else { return nil }
        if let data = FileManager.default.contents(atPath: path(name)),
            let picture = SmallFile.picture(Array(data))
        {
            return picture
        }
        discard(
            withIndex { index in
                index.entry(sized.id).map {
                    index.put([:], of: sized.id, now: $0.lastUsed) { $0 != name }
                } ?? []
            })
        return nil
    }

    // MARK: Writing

    /// Returns the path of a new file for a download. No other download gets the same path, and the
    /// next process deletes the file.
    func unfinishedPath() -> String {
        withIndex { _ in leftovers.appendingPathComponent(UUID().uuidString).path }
    }

    /// Replaces a picture's files with a downloaded file.
    ///
    /// - Returns: True if the picture fits into the cache; otherwise the file stays at its path.
    func store(
        _ record: PictureRecord, _ id: PictureID, from file: String, now: Int64
    ) throws -> Bool {
        let data = try record.encoded()
        let body = record.bodyName(id)
        if record.byteCount + data.count > withIndex({ $0.limit }) { return false }
        try rename(file, body)
        try write(data, PictureRecord.name(id))
        touch(id, now)
        let files = [body: record.byteCount, PictureRecord.name(id): data.count]
        discard(withIndex { $0.put(files, of: id, now: now) { record.owns($0, id) } })
        return true
    }

    /// Updates the record after the server confirmed the same bytes.
    func update(_ record: PictureRecord, _ id: PictureID, now: Int64) throws {
        guard withIndex({ $0.entry(id) }) != nil else { return }
        let data = try record.encoded()
        try write(data, PictureRecord.name(id))
        touch(id, now)
        let files = [PictureRecord.name(id): data.count]
        discard(withIndex { $0.put(files, of: id, now: now) { record.owns($0, id) } })
    }

    /// Stores a small picture beside the picture from which it was made, if that picture is still
    /// present.
    func store(small picture: Picture, _ sized: SizedID, of record: PictureRecord) throws {
        if picture.byteCount > SmallFile.maximumPixelBytes { return }
        let body = record.bodyName(sized.id)
        guard let entry = withIndex({ $0.entry(sized.id) }), entry.files[body] != nil else {
            return
        }
        let data = SmallFile.bytes(picture)
        let name = record.smallName(sized)
        try write(data, name)
        discard(
            withIndex {
                // If the picture was removed since the last check, the small file would belong to
                // no picture.
                if $0.entry(sized.id)?.files[body] == nil { return [name] }
                return $0.put([name: data.count], of: sized.id, now: entry.lastUsed) { _ in true }
            })
    }

    func remove(_ id: PictureID) { discard(withIndex { $0.remove(id) }) }
    func removeAll() { trim(to: 0) }
    func trim(to bytes: Int) { discard(withIndex { $0.trim(to: bytes) }) }
    func expire(now: Int64) { discard(withIndex { $0.expire(now: now) }) }

    // MARK: Files

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func read(_ id: PictureID) -> PictureRecord? {
        FileManager.default.contents(atPath: path(PictureRecord.name(id)))
            .flatMap { PictureRecord($0, id: id) }
    }

    private func size(_ name: String) -> Int? {
        var status = stat()
        return stat(path(name), &status) == 0 ? Int(status.st_size) : nil
    }

    private func touch(_ id: PictureID, _ now: Int64) {
        let date = Date(timeIntervalSince1970: Double(now) / 1_000)
        try? FileManager.default.setAttributes(
            [.modificationDate: date], ofItemAtPath: path(PictureRecord.name(id)))
    }

    private func write(_ data: Data, _ name: String) throws {
        let unfinished = unfinishedPath()
        do {
            try data.write(to: URL(fileURLWithPath: unfinished))
            try rename(unfinished, name)
        } catch {
            unlink(unfinished)
            throw error
        }
    }

    private func rename(_ file: String, _ name: String) throws {
        guard Foundation.rename(file, path(name)) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    /// Removes files. A reader that has a file open can still read it to its end.
    private func discard(_ names: [String]) {
        for name in names { unlink(path(name)) }
    }
}
