import Foundation
import TidemarkModel

/// The file in the option `--indexes`.
public enum IndexFile {
    /// Reads the file.
    ///
    /// - Parameter policy: With ``IndexPolicy/auto`` a missing file counts as empty, and a file
    ///   with comments is refused, because the comments would be lost.
    /// - Throws: ``IndexFileError``.
    public static func read(
        _ path: String, policy: IndexPolicy
    ) throws(IndexFileError) -> IndexSettings {
        guard let json = try contents(path) else {
            if policy != .auto { throw IndexFileError("There is no file \(path).") }
            return IndexSettings(IndexConfiguration(), policy: policy, path: path)
        }
        let configuration: IndexConfiguration
        do throws(IndexFileError) { configuration = try IndexConfiguration(json: json) } catch {
            throw IndexFileError("\(path): \(error.message)")
        }
        if policy == .auto, !IndexFileReader.isPlain(json) {
            throw IndexFileError(
                "\(path): The policy auto rewrites this file and would lose its comments.")
        }
        return IndexSettings(configuration, policy: policy, path: path)
    }

    /// Returns nil if there is no such file.
    private static func contents(_ path: String) throws(IndexFileError) -> Data? {
        if !FileManager.default.fileExists(atPath: path) { return nil }
        do { return try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
            throw IndexFileError("\(path) cannot be read.")
        }
    }

    /// Adds indexes to the present file, including changes by others since it was read. The new
    /// file replaces the old file completely, or not at all.
    ///
    /// - Throws: ``IndexFileError``; the file is then unchanged.
    static func add(_ missing: [MissingIndex], to path: String) throws(IndexFileError) {
        var configuration = try read(path, policy: .auto).configuration
        for index in missing where !configuration.add(index) {
            throw IndexFileError("\(path): The file cannot hold more indexes.")
        }
        try write(configuration, to: path)
    }

    /// Writes a file completely, or not at all.
    ///
    /// - Throws: ``IndexFileError``; the file is then unchanged.
    public static func write(
        _ configuration: IndexConfiguration, to path: String
    ) throws(IndexFileError) {
        do { try configuration.json.write(to: URL(fileURLWithPath: path), options: .atomic) } catch
        {
            throw IndexFileError("\(path) cannot be written.")
        }
    }
}
