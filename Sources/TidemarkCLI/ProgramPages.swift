import Foundation
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The pages of the program and its libraries that the process has looked at.
///
/// Starting looks at most of what it ever will, once: option parsing, type metadata, migrations, and
/// the system maps 64 KiB around every page that is touched. Those pages belong to files and cost
/// nobody anything while memory is free, but they count as the process's own: 38 of 42 MiB, when it was
/// measured.
enum ProgramPages {
    /// Lets go of those of them that hold code. What is needed again is mapped again from the system's
    /// cache, 64 KiB at a time. Does nothing where there is no `/proc`.
    static func giveBack() {
        #if os(Linux)
            guard let text = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else {
                return
            }
            for line in text.split(separator: "\n") {
                guard let range = codeRange(line),
                    let start = UnsafeMutableRawPointer(
                        bitPattern: range.lowerBound)
                else { continue }
                madvise(start, range.count, MADV_DONTNEED)
            }
        #endif
    }

    /// Where a line of `/proc/self/maps` tells of a file's code: readable, executable, and never written,
    /// so that the file has all that is in it.
    static func codeRange(_ line: Substring) -> Range<UInt>? {
        let fields = line.split(separator: " ", omittingEmptySubsequences: true)
        guard fields.count >= 6, fields[1] == "r-xp", fields[5].hasPrefix("/") else { return nil }
        let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        return bounds.count == 2 && bounds[0] < bounds[1] ? bounds[0]..<bounds[1] : nil
    }
}
