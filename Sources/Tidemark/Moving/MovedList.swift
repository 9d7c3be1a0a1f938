import Foundation

/// The marks of the batches that all users of this device have queued, one per line, in a file
/// beside the caches. A batch is added after its note in the cache of its user is on disk. So a
/// listed batch was queued, even if that user's cache is closed or erased by now; an unlisted batch
/// can have been queued too.
struct MovedList {
    private let url: URL

    init(besides cache: String) { url = URL(fileURLWithPath: cache + ".moved") }

    /// The listed marks. Empty if the file cannot be read; then the notes in the caches are read.
    var marks: Set<String> {
        guard let data = try? Data(contentsOf: url) else { return [] }
        // The last line can be incomplete.
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
        return Set(lines.lazy.map(String.init).filter { $0.utf8.count == Self.length })
    }

    /// Adds marks. A failure is ignored, because the notes in the caches are the record.
    func add(_ marks: [String]) {
        if marks.isEmpty { return }
        // The first newline ends an incomplete line.
        let lines = Data(("\n" + marks.joined(separator: "\n") + "\n").utf8)
        guard let file = try? FileHandle(forWritingTo: url) else {
            try? lines.write(to: url, options: .atomic)
            return
        }
        defer { try? file.close() }
        if (try? file.seekToEnd()) != nil { try? file.write(contentsOf: lines) }
    }

    /// The digits of a digest.
    private static let length = 32
}
