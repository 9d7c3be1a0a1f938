import Foundation
import TidemarkSystem

/// What this process takes, for children of a demo that are measured.
enum PeakMemory {
    /// The most that it has held so far.
    static var mebibytes: Double {
        // Where there is a `/proc`, the accounts begin with what the process that made this one held.
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
            return Double(SystemCalls.peakBytes) / 1_048_576
        }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap { Double($0) }
        return (kibibytes ?? .infinity) / 1_024
    }

    /// Gives back what is free, and forgets what was held before, where the system can: what comes then
    /// is all seen.
    static func restart() {
        // Swift's module of glibc is without <malloc.h>; other libraries have no such function.
        if let symbol = dlsym(nil, "malloc_trim") {
            _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)(0)
        }
        guard let file = fopen("/proc/self/clear_refs", "w") else { return }
        fputs("5", file)
        fclose(file)
    }
}
