import Foundation
import TidemarkSystem

/// The memory of this process, for a demo's measured child processes.
enum PeakMemory {
    /// The peak of the resident memory in MiB.
    static var mebibytes: Double {
        // `getrusage` counts the memory of the parent at the fork, too, so `/proc` is better where
        // it exists.
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
            return Double(SystemCalls.peakBytes) / 1_048_576
        }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap { Double($0) }
        return (kibibytes ?? .infinity) / 1_024
    }

    /// Returns free memory to the system and resets the peak, if the system supports this. A later
    /// peak is then that of the later work.
    static func restart() {
        // Swift's module of glibc does not include <malloc.h>, and other libraries have no such
        // function.
        if let symbol = dlsym(nil, "malloc_trim") {
            _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)(0)
        }
        guard let file = fopen("/proc/self/clear_refs", "w") else { return }
        fputs("5", file)
        fclose(file)
    }
}
