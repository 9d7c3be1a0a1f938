import Foundation
import TidemarkModel

extension LogReader where Failure == ExportError {
    /// Opens a file of an export. An incomplete last record counts as damage.
    init(_ path: String) throws(ExportError) {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw .file(path: path, reason: "there is no such file, or it cannot be read")
        }
        self.init(
            blocks: { () throws(ExportError) in
                do {
                    return try file.read(upToCount: LogFormat.blockSize).map { [UInt8]($0) }
                } catch {
                    throw .file(path: path, reason: "\(error.localizedDescription)")
                }
            }, damaged: { .damaged(path: path, problem: $0) })
    }
}
