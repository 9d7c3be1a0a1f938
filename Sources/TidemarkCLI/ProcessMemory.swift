import Foundation
import TidemarkSystem

/// Reduces the memory that the process holds without need.
enum ProcessMemory {
    /// Makes all threads share one heap. Call it before there are other threads.
    ///
    /// By default glibc gives each thread a heap, and memory freed there stays there: under mixed
    /// load the heaps grew by 220 MiB per hour. One shared heap does not grow, and had no
    /// measurable cost in calls per second.
    ///
    /// Buffers of at least 96 KiB get separate pages, which are returned when the buffers are
    /// freed. By default glibc raises this size to the largest buffer so far, and the memory of
    /// large answers stays in holes of the heap. Twelve readers that read nothing held 40 to 270
    /// MiB, and hold 20 to 51 MiB with this setting, in six runs each. The size is above the 64 KiB
    /// with which a socket is read.
    ///
    /// The heap keeps 4 MiB of free memory at its end for the next commit, instead of 128 KiB.
    static func settleHeap() {
        // Swift's module of glibc does not include <malloc.h>, and other libraries have no such
        // function.
        typealias SetOption = @convention(c) (_ option: Int32, _ value: Int32) -> Int32
        let (maximumOfArenas, smallestOwnPages, freeAtTop): (Int32, Int32, Int32) = (-8, -3, -1)
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let set = unsafeBitCast(symbol, to: SetOption.self)
        _ = set(maximumOfArenas, 1)
        _ = set(smallestOwnPages, 96 << 10)
        _ = set(freeAtTop, 4 << 20)
    }

    /// Releases the pages of code that only the start needed.
    ///
    /// The start reads most of the code once: options, type metadata and migrations; and the system
    /// maps 64 KiB around every touched page. Those pages belong to files and cost nothing while
    /// memory is free, but they count as memory of the process: 38 of 42 MiB in a measurement. The
    /// system maps them again from its cache if they are needed. Does nothing without `/proc`.
    static func giveBackCode() {
        guard let text = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else {
            return
        }
        for line in text.split(separator: "\n") {
            guard let range = codeRange(line),
                let start = UnsafeMutableRawPointer(bitPattern: range.lowerBound)
            else { continue }
            // A failure is harmless: the pages stay.
            _ = madvise(start, range.count, MADV_DONTNEED)
        }
    }

    /// Returns the address range of a file's code from a line of `/proc/self/maps`. The range is
    /// never written, so the file has all of its content.
    private static func codeRange(_ line: Substring) -> Range<UInt>? {
        let fields = line.split(separator: " ", omittingEmptySubsequences: true)
        guard fields.count >= 6, fields[1] == "r-xp", fields[5].hasPrefix("/") else { return nil }
        let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        return bounds.count == 2 && bounds[0] < bounds[1] ? bounds[0]..<bounds[1] : nil
    }
}
