import Foundation
import CTidemarkSQLite
import Synchronization
import TidemarkModel
import TidemarkStore

/// A disk in one folder that distinguishes written data from synced data. A loss of power may drop
/// any data that was not synced.
///
/// Files are written as usual, so the process that wrote them reads its own writes. In addition,
/// the disk records the data for a loss of power: the bytes of each file at its last sync, every
/// change since, and the names in the folder at its last sync.
// @unchecked: the lock of the only store with files here protects its calls. The test calls between
// two calls of the store.
final class LossyDisk: @unchecked Sendable {
    let folder: String
    private var entries: [String: DiskFile] = [:]
    private var syncedEntries: [String: DiskFile] = [:]
    /// The number of changing calls since the last start.
    private(set) var changes = 0
    /// The number of changes after which the power fails, or nil if the power never fails.
    private var end: Int?
    private(set) var isOff = false
    /// The number of reads of a database before a read fails, or nil if no read fails.
    var readsBeforeFailure: Int?
    private(set) var failedReads = 0
    /// The number of writes to any file before a write fails and writes only a part, or nil if no
    /// write fails.
    var writesBeforeFailure: Int?
    /// True if the later writes fail too, until ``writesBeforeFailure`` is nil.
    var failsOn = false
    private(set) var failedWrites = 0
    /// The planted defect.
    var defect: DiskDefect?
    private var dice: Dice

    init(seed: UInt64) throws {
        let root = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : nil
        let parent = root ?? FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
        folder = parent + "/tidemark-disk-" + UUID().uuidString
        dice = Dice(seed: seed)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        Self.all.withLock { $0[folder] = Weak(disk: self) }
    }

    deinit {
        Self.all.withLock { $0[folder] = nil }
        try? FileManager.default.removeItem(atPath: folder)
    }

    func path(_ name: String) -> String { folder + "/" + name }

    /// Runs `body`, which opens its stores on disks like this one.
    static func mounted<T>(_ body: () throws -> T) throws -> T {
        guard let name = LossyLayer.name else { throw DiskViolation("SQLite takes no layer") }
        return try StoreLayer.$name.withValue(name, operation: body)
    }

    // MARK: The end, and what comes after it

    /// - Parameter changes: The number of changes that succeed before everything fails.
    func fail(after changes: Int) {
        self.changes = 0
        end = changes
    }

    /// Restarts the disk with all written data, as after a kill. No process may have a file open.
    func restartAfterKill() {
        for file in entries.values { file.synced = file.written }
        restart()
    }

    /// Restarts the disk with the data that a loss of power leaves. No process may have a file
    /// open.
    func restartAfterPowerLoss() throws {
        let fate = Fate(&dice)
        var left: [String: DiskFile] = [:]
        let paths = Set(entries.keys).union(syncedEntries.keys).sorted()
        for path in paths {
            let choices = [entries[path], syncedEntries[path]]
            guard let file = fate.keepsNames ?? dice.chance(50) ? choices[0] : choices[1] else {
                try Self.remove(path)
                continue
            }
            left[path] = file
        }
        for (path, file) in left {
            file.loseUnsynced(fate, &dice)
            try Self.remove(path)
            try Data(file.synced).write(to: URL(fileURLWithPath: path))
        }
        entries = left
        restart()
    }

    private func restart() {
        syncedEntries = entries
        for file in entries.values { file.forgetChanges() }
        (changes, end, isOff) = (0, nil, false)
    }

    private static func remove(_ path: String) throws {
        if FileManager.default.fileExists(atPath: path) {
            try FileManager.default.removeItem(atPath: path)
        }
    }
}

/// A defect between a store and the disk, which a test of a crash must detect.
enum DiskDefect {
    /// A sync reports success without syncing.
    case syncsNothing
    /// A sync leaves the last write unsynced until the next sync.
    case keepsLastPieceBack
}

// MARK: - As the layer calls it

extension LossyDisk {
    private struct Weak { weak var disk: LossyDisk? }

    private static let all = Mutex<[String: Weak]>([:])

    static func holding(_ path: String) -> LossyDisk? {
        all.withLock { $0[(path as NSString).deletingLastPathComponent]?.disk }
    }

    enum Step { case done, refused, cut }

    /// Counts a change before it is made.
    private func step() -> Step {
        if isOff { return .refused }
        changes += 1
        guard let end, changes > end else { return .done }
        isOff = true
        return .cut
    }

    /// - Parameter isMade: True if the call creates the file.
    func open(_ path: String, isMade: Bool) -> DiskFile? {
        if isMade, step() != .done { return nil }
        if isOff { return nil }
        if !isMade, let known = entries[path] { return known }
        let bytes = isMade ? nil : FileManager.default.contents(atPath: path)
        let file = DiskFile([UInt8](bytes ?? Data()))
        entries[path] = file
        if !isMade { syncedEntries[path] = file }
        return file
    }

    func mayDelete() -> Bool { step() == .done }

    /// Replaces one file with another: changes the name, then syncs the folder.
    func replace(_ path: String, by new: String) throws {
        guard step() == .done else { throw DiskViolation("the power is off") }
        try Self.remove(path)
        try FileManager.default.moveItem(atPath: new, toPath: path)
        entries[path] = entries[new]
        entries[new] = nil
        guard step() == .done else { throw DiskViolation("the power is off") }
        syncedEntries = entries
    }

    func deleted(_ path: String, syncsFolder: Bool) {
        entries[path] = nil
        if syncsFolder { syncedEntries = entries }
    }

    /// Performs a write with `body`, which receives the number of bytes to write. A write that
    /// fails writes a random part of them.
    func write(
        _ file: DiskFile, _ bytes: UnsafeRawBufferPointer, at offset: Int64, _ body: (Int) -> Int32
    ) -> Int32 {
        switch step() {
        case .refused: return SQLITE_IOERR
        case .done:
            guard mayWrite() else { return writePart(file, bytes, at: offset, body) }
            let code = body(bytes.count)
            if code == SQLITE_OK { file.note(.write(Int(offset), [UInt8](bytes))) }
            return code
        case .cut: return writePart(file, bytes, at: offset, body)
        }
    }

    private func mayWrite() -> Bool {
        guard let left = writesBeforeFailure else { return true }
        if left > 0 {
            writesBeforeFailure = left - 1
            return true
        }
        failedWrites += 1
        if !failsOn { writesBeforeFailure = nil }
        return false
    }

    private func writePart(
        _ file: DiskFile, _ bytes: UnsafeRawBufferPointer, at offset: Int64, _ body: (Int) -> Int32
    ) -> Int32 {
        let count = dice.roll(bytes.count + 1)
        if count > 0, body(count) == SQLITE_OK {
            file.note(.write(Int(offset), [UInt8](bytes.prefix(count))))
        }
        return SQLITE_IOERR
    }

    func change(_ file: DiskFile, _ change: DiskFile.Change, _ body: () -> Int32) -> Int32 {
        guard step() == .done else { return SQLITE_IOERR }
        let code = body()
        if code == SQLITE_OK { file.note(change) }
        return code
    }

    func sync(_ file: DiskFile, withFolder: Bool, _ body: () -> Int32) -> Int32 {
        guard step() == .done else { return SQLITE_IOERR }
        let code = body()
        guard code == SQLITE_OK else { return code }
        switch defect {
        case .syncsNothing: break
        case .keepsLastPieceBack: file.sync(but: 1)
        case nil: file.sync(but: 0)
        }
        if withFolder { syncedEntries = entries }
        return code
    }

    /// True if a read succeeds.
    func mayRead(isDatabase: Bool) -> Bool {
        if isOff { return false }
        guard isDatabase, let left = readsBeforeFailure else { return true }
        readsBeforeFailure = left > 0 ? left - 1 : nil
        if left == 0 { failedReads += 1 }
        return left > 0
    }
}
