import Foundation
import TidemarkSystem

/// The folder of one user's copies. It is beside the cache and not in it, so a new cache does not
/// delete the copies.
///
/// A copy is written as `name.part`, then its row is journalled, and then the copy is renamed. So
/// after a kill, a part without a row was never journalled and can be removed, and a whole copy
/// without a row has lost its cache and stays.
struct FileFolder: Hashable, Sendable {
    let path: String

    private static let partEnding = ".part"

    /// - Parameters:
    ///   - base: The path of the folder of all users.
    ///   - user: The bytes of the user's id; empty for no user.
    init(base: String, user: [UInt8]) {
        let name = user.map { String(format: "%02x", $0) }.joined()
        // The name of a folder can have 255 bytes, and a user's id 128.
        let fits = name.utf8.count <= 200
        path = base + "/" + (name.isEmpty ? "nobody" : fits ? name : Self.short(user))
    }

    private static func short(_ user: [UInt8]) -> String {
        var digest = RunningDigest()
        user.withUnsafeBytes { digest.add($0) }
        return digest.digest.sha256
    }

    func make() throws(FileProblem) {
        if access(path, F_OK) == 0 { return }
        let code = PrivateFiles.makeFolder(path)
        if code != 0 { throw FileCopy.storingProblem(code) }
        // A loss of power must not take the folder with its copies.
        let base = URL(fileURLWithPath: path).deletingLastPathComponent()
        try Self.sync(folder: base.path)
        try Self.sync(folder: base.deletingLastPathComponent().path)
    }

    /// Stores the names of new copies on disk. A loss of power then takes no copy whose row is
    /// journalled afterwards.
    func sync() throws(FileProblem) { try Self.sync(folder: path) }

    private static func sync(folder: String) throws(FileProblem) {
        let file = open(folder, O_RDONLY | O_CLOEXEC)
        if file < 0 { throw FileCopy.storingProblem(errno) }
        defer { close(file) }
        if SystemCalls.syncToDisk(file) != 0 { throw FileCopy.storingProblem(errno) }
    }

    func part(_ name: String) -> String { path + "/" + name + Self.partEnding }
    func whole(_ name: String) -> String { path + "/" + name }

    /// Returns the path of a copy that has a row; nil if the copy is missing.
    func copy(_ name: String) -> String? {
        [whole(name), part(name)].first { access($0, F_OK) == 0 }
    }

    /// Marks a copy as journalled. If the rename fails, the part still counts, as it has a row.
    func settle(_ name: String) { _ = rename(part(name), whole(name)) }

    func remove(_ name: String) {
        unlink(part(name))
        unlink(whole(name))
    }

    /// Removes the folder with all copies.
    func erase() { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the names in the folder.
    func names() -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }

    /// Returns the names of parts in the folder.
    func parts() -> [String] { names().filter { $0.hasSuffix(Self.partEnding) } }

    /// Removes parts that were never journalled, and renames the other parts.
    ///
    /// - Parameters:
    ///   - names: The names in the folder, read before `rows`: a part that a later call of the app
    ///     makes is not among them.
    ///   - rows: The copies that have a row, or get one.
    /// - Returns: The names of whole copies without a row.
    func sweep(_ names: [String], rows: Set<String>) -> [String] {
        var unknown: [String] = []
        for name in names.sorted() {
            if name.hasSuffix(Self.partEnding) {
                let base = String(name.dropLast(Self.partEnding.count))
                if rows.contains(base) { settle(base) } else { unlink(part(base)) }
            } else if !rows.contains(name) {
                unknown.append(name)
            }
        }
        return unknown
    }
}
