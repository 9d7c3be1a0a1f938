import Foundation
import Synchronization

/// The output of a demo. Results are printed to the standard output; details are written to a file,
/// or printed too.
final class DemoOutput: Sendable {
    /// Prints everything immediately.
    static let verbose = DemoOutput(file: nil, path: nil)

    /// The path of the file with the details; nil if they are printed.
    let path: String?
    private let file: Mutex<FileHandle?>

    private init(file: FileHandle?, path: String?) {
        self.file = Mutex(file)
        self.path = path
    }

    /// Writes details to a file, which is created or emptied first.
    ///
    /// - Throws: An error if the file cannot be written.
    convenience init(path: String) throws {
        let url = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: url)
        self.init(file: try FileHandle(forWritingTo: url), path: url.path)
    }

    /// Prints a text in every mode.
    func result(_ text: String) {
        ProgressLine.clear()
        print(text)
        // Flush now, because the reader of a pipe otherwise sees the text only at the end.
        fflush(nil)
        keep(text)
    }

    /// Prints a text, or only writes it to the file with the details.
    func detail(_ text: String) {
        if path != nil { return keep(text) }
        ProgressLine.clear()
        print(text)
    }

    /// Reports the reason why a requirement failed.
    func complaint(_ text: String) {
        if path != nil { return keep(text) }
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }

    private func keep(_ text: String) {
        file.withLock { file in
            // A full disk does not end a demo, because the results are on the standard output.
            try? file?.write(contentsOf: Data("\(text)\n".utf8))
        }
    }
}
