import Foundation
import TidemarkSystem

/// What the process holds beside what it needs.
enum ProcessMemory {
    /// Lets all threads share one heap. glibc gives every thread one of its own, and what is freed in
    /// the others stays with them: under mixed load they grew by 220 MiB an hour, and the one is flat,
    /// at no cost in calls a second that could be measured.
    ///
    /// Buffers from 96 KiB on get pages of their own, which go back when they are freed. By itself glibc
    /// raises that size to the largest buffer it has seen, and what readers of large answers leave then
    /// lies in holes of the heap: twelve that read nothing held 40 to 270 MiB, and with this 20 to 51, each of six times.
    /// It is more than the 64 KiB that a socket is read by.
    ///
    /// Of what is free at the heap's end 4 MiB are kept, and not 128 KiB, for the next commit.
    ///
    /// To be called before there are threads.
    static func settleHeap() {
        // Swift's module of glibc is without <malloc.h>; other libraries have no such function.
        typealias SetOption = @convention(c) (_ option: Int32, _ value: Int32) -> Int32
        let (maximumOfArenas, smallestOwnPages, freeAtTop): (Int32, Int32, Int32) = (-8, -3, -1)
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let set = unsafeBitCast(symbol, to: SetOption.self)
        _ = set(maximumOfArenas, 1)
        _ = set(smallestOwnPages, 96 << 10)
        _ = set(freeAtTop, 4 << 20)
    }

    /// Lets go of the pages of code that only starting needed.
    ///
    /// Starting looks at most of the code that there is, once: options, type metadata, migrations; and
    /// the system maps 64 KiB around every page that is touched. Those pages are the files' and cost
    /// nobody anything while memory is free, but they count as the process's: 38 of 42 MiB, when it was
    /// measured. What is needed again is mapped again from the system's cache. Does nothing where there
    /// is no `/proc`.
    static func giveBackCode() {
        guard let text = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else {
            return
        }
        for line in text.split(separator: "\n") {
            guard let range = codeRange(line),
                let start = UnsafeMutableRawPointer(bitPattern: range.lowerBound)
            else { continue }
            // It may fail, and then the pages stay.
            _ = madvise(start, range.count, MADV_DONTNEED)
        }
    }

    /// Where a line of `/proc/self/maps` tells of a file's code: never written, so that the file has all
    /// that is in it.
    private static func codeRange(_ line: Substring) -> Range<UInt>? {
        let fields = line.split(separator: " ", omittingEmptySubsequences: true)
        guard fields.count >= 6, fields[1] == "r-xp", fields[5].hasPrefix("/") else { return nil }
        let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        return bounds.count == 2 && bounds[0] < bounds[1] ? bounds[0]..<bounds[1] : nil
    }
}
