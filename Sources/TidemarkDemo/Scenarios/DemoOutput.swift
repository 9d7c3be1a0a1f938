import Foundation
import Synchronization

/// Where a demo prints: results to the standard output, details to a file, or beside the results.
final class DemoOutput: Sendable {
    /// Everything is printed as it comes.
    static let verbose = DemoOutput(file: nil, path: nil)

    /// The file with the details; nil where they are printed.
    let path: String?
    private let file: Mutex<FileHandle?>

    private init(file: FileHandle?, path: String?) {
        self.file = Mutex(file)
        self.path = path
    }

    /// Keeps details in a file, which is made, or made empty.
    ///
    /// - Throws: When the file cannot be written.
    convenience init(path: String) throws {
        let url = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: url)
        self.init(file: try FileHandle(forWritingTo: url), path: url.path)
    }

    /// What is always printed.
    func result(_ text: String) {
        ProgressLine.clear()
        print(text)
        // A reader at the other end of a pipe sees it now, not at the end.
        fflush(nil)
        keep(text)
    }

    /// What is printed only where everything is.
    func detail(_ text: String) {
        if path != nil { return keep(text) }
        ProgressLine.clear()
        print(text)
    }

    /// Why something does not hold.
    func complaint(_ text: String) {
        if path != nil { return keep(text) }
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }

    private func keep(_ text: String) {
        file.withLock { file in
            // A full disk is no reason to end a demo: the results are on the standard output.
            try? file?.write(contentsOf: Data("\(text)\n".utf8))
        }
    }
}
