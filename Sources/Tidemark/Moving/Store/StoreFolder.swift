import Foundation

/// A LevelDB folder, which is read without a lock: no file in it is opened for writing or changed.
/// Its owner must not have it open.
struct StoreFolder {
    private let url: URL

    init(_ url: URL) { self.url = url }

    /// Reads the newest entries of all keys under the prefixes.
    ///
    /// - Returns: The rows, and whether a log or the manifest ends in the middle of a record.
    func rows(
        under prefixes: [[UInt8]]
    ) throws(FirebaseStoreError) -> (rows: StoreRows, hasTornEnd: Bool) {
        let manifest = try manifest()
        var rows = StoreRows(prefixes: prefixes)
        var hasTornEnd = manifest.hasTornEnd
        for table in manifest.tables {
            if rows.mayBe(from: table.firstKey, through: table.lastKey) {
                try StoreTable(try file(of: table)).read(into: &rows)
            } else {
                _ = try file(of: table)
            }
        }
        for name in try logs(of: manifest) {
            if try StoreLog(try file(name)).read(into: &rows) { hasTornEnd = true }
        }
        return (rows, hasTornEnd)
    }

    /// Returns the manifest that `CURRENT` names.
    func manifest() throws(FirebaseStoreError) -> StoreManifest {
        guard let current = try StoreFile(url, "CURRENT") else {
            throw .notAStore(folder: url.path)
        }
        let text = String(decoding: try current.read(upTo: 64) ?? [], as: UTF8.self)
        let name = String(text.dropLast())
        guard text.hasSuffix("\n"), Self.number(name, between: "MANIFEST-", "") != nil else {
            throw current.corrupted("it names no manifest.")
        }
        guard let file = try StoreFile(url, name) else { throw missing(name) }
        return try StoreManifest(file)
    }

    /// Opens a file that must be there.
    func file(_ name: String) throws(FirebaseStoreError) -> StoreFile {
        guard let file = try StoreFile(url, name) else { throw missing(name) }
        return file
    }

    /// Returns a text that is equal as long as no table or log is added, removed or extended.
    func digest(of manifest: StoreManifest) throws(FirebaseStoreError) -> String {
        var text = "\(url.deletingLastPathComponent().lastPathComponent) \(manifest.logNumber)"
        for table in manifest.tables { text += " \(table.number):\(table.size)" }
        for name in (try? logs(of: manifest)) ?? [] {
            text += " \(name):\(try StoreFile(url, name)?.size ?? 0)"
        }
        return MD5.digest(Array(text.utf8)).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }

    /// Tables end with `.ldb`, and those of old versions with `.sst`.
    func file(of table: StoreManifest.Table) throws(FirebaseStoreError) -> StoreFile {
        let name = Self.name(table.number, "ldb")
        var found = try StoreFile(url, name)
        if found == nil { found = try StoreFile(url, Self.name(table.number, "sst")) }
        guard let file = found else { throw missing(name) }
        guard UInt64(file.size) == table.size else {
            throw file.corrupted("it has \(file.size) bytes instead of \(table.size).")
        }
        return file
    }

    /// Returns the logs whose entries are not in the tables yet, oldest first. Throws if a log that
    /// the manifest names is missing, so a manifest that has lost its last edits is detected.
    func logs(of manifest: StoreManifest) throws(FirebaseStoreError) -> [String] {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: url.path) } catch {
            throw .unreadable(file: url.lastPathComponent, reason: error.localizedDescription)
        }
        let numbers = names.compactMap { Self.number($0, between: "", ".log") }
        let (first, other) = (manifest.logNumber, manifest.previousLogNumber)
        for number in [first, other] where number != 0 && !numbers.contains(number) {
            throw missing(Self.name(number, "log"))
        }
        return numbers.filter { $0 >= first || $0 == other && other != 0 }.sorted()
            .map { Self.name($0, "log") }
    }

    /// Returns the number in a name; nil for a name of another form.
    private static func number(
        _ name: String, between start: String, _ end: String
    ) -> UInt64? {
        guard name.hasPrefix(start), name.hasSuffix(end) else { return nil }
        let digits = name.utf8.dropFirst(start.utf8.count).dropLast(end.utf8.count)
        let isNumber = digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isNumber ? UInt64(Substring(digits)) : nil
    }

    private static func name(_ number: UInt64, _ ending: String) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits + "." + ending
    }

    private func missing(_ name: String) -> FirebaseStoreError {
        .corrupted(name, "it is missing.")
    }
}
