import Foundation
import CTidemarkSQLite
import Synchronization
import TidemarkModel
import TidemarkStore

/// A disk in one folder that keeps apart what was written and what was synced, and at a loss of power
/// forgets any of the former.
///
/// Files are written as usual, so that the process that wrote them reads what it wrote. Beside them stands
/// what would be found after a loss: of each file the bytes of its last sync and every change since, and the
/// names that the folder had when it was last synced.
// @unchecked: used within the lock of the one store that has files here, and by its test between two
// calls of that.
final class LossyDisk: @unchecked Sendable {
    let folder: String
    private var entries: [String: DiskFile] = [:]
    private var syncedEntries: [String: DiskFile] = [:]
    /// Calls that change something, since the last start.
    private(set) var changes = 0
    /// After how many of them the power fails; nil for never.
    private var end: Int?
    private(set) var isOff = false
    /// How many more reads of a database succeed before one fails; nil for all.
    var readsBeforeFailure: Int?
    private(set) var failedReads = 0
    /// How many more writes to any file succeed before one fails and writes a part; nil for all.
    var writesBeforeFailure: Int?
    /// Whether those after it fail as well, until ``writesBeforeFailure`` is nil.
    var failsOn = false
    private(set) var failedWrites = 0
    /// What is planted.
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

    /// Runs `body` with stores that it opens on disks like this one.
    static func mounted<T>(_ body: () throws -> T) throws -> T {
        guard let name = LossyLayer.name else { throw DiskViolation("SQLite takes no layer") }
        return try StoreLayer.$name.withValue(name, operation: body)
    }

    // MARK: The end, and what comes after it

    /// - Parameter changes: How many are made before everything fails.
    func fail(after changes: Int) {
        self.changes = 0
        end = changes
    }

    /// To be called once nobody has a file open: what a kill leaves, which is all that was written.
    func restartAfterKill() {
        for file in entries.values { file.synced = file.written }
        restart()
    }

    /// To be called once nobody has a file open: what a loss of power leaves.
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

/// A defect of the way to the disk, which a test of what survives has to see.
enum DiskDefect {
    /// A sync says that it is done, and nothing is.
    case syncsNothing
    /// The last piece that was written waits for the next one, over a sync.
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

    /// Counts a change that is about to be made.
    private func step() -> Step {
        if isOff { return .refused }
        changes += 1
        guard let end, changes > end else { return .done }
        isOff = true
        return .cut
    }

    /// - Parameter isMade: Whether the file is made by that.
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

    /// Puts a file in the place of another one: its name, and then the folder that is synced.
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

    /// Performs a write by `body`, which is given how many of the bytes; at the end any part of them.
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

    /// Whether a read succeeds.
    func mayRead(isDatabase: Bool) -> Bool {
        if isOff { return false }
        guard isDatabase, let left = readsBeforeFailure else { return true }
        readsBeforeFailure = left > 0 ? left - 1 : nil
        if left == 0 { failedReads += 1 }
        return left > 0
    }
}
