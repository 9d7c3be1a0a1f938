import Foundation
import TidemarkModel

/// The file that `--indexes` names.
public enum IndexFile {
    /// Reads it.
    ///
    /// - Parameter policy: With ``IndexPolicy/auto`` a file that is not there is an empty one, and
    ///   one with comments is refused, because they would be lost.
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
                "\(path): The policy auto writes this file anew, and would lose its comments.")
        }
        return IndexSettings(configuration, policy: policy, path: path)
    }

    /// Nil where there is no such file.
    private static func contents(_ path: String) throws(IndexFileError) -> Data? {
        if !FileManager.default.fileExists(atPath: path) { return nil }
        do { return try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
            throw IndexFileError("\(path) cannot be read.")
        }
    }

    /// Adds to the file as it is now, whoever has changed it since it was read. The new file takes
    /// the old one's place whole, or not at all.
    ///
    /// - Throws: ``IndexFileError``, with the file as it was.
    static func add(_ missing: [MissingIndex], to path: String) throws(IndexFileError) {
        var configuration = try read(path, policy: .auto).configuration
        for index in missing where !configuration.add(index) {
            throw IndexFileError("\(path): The file is full.")
        }
        try write(configuration, to: path)
    }

    /// Writes a file whole, or not at all.
    ///
    /// - Throws: ``IndexFileError``, with the file as it was.
    public static func write(
        _ configuration: IndexConfiguration, to path: String
    ) throws(IndexFileError) {
        do { try configuration.json.write(to: URL(fileURLWithPath: path), options: .atomic) } catch
        {
            throw IndexFileError("\(path) cannot be written.")
        }
    }
}
