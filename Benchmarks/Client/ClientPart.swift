import Foundation

/// A group of steps that one process measures. Each process runs one part of one side, so that no
/// side uses the other's memory and caches.
enum ClientPart: String, CaseIterable {
    /// Loads with the index of the conversation query.
    case load
    /// Loads without an index, and then builds the indexes.
    case fill
    /// Opens the cache and reads once.
    case coldQuery, coldPoint
    case warm
    case writes

    /// The figure of the processor time that a process of this part uses, on all of its threads.
    var processorStep: String { "cpu_" + rawValue }
}

/// A sample of a child process: a line of JSON.
struct ClientSample: Codable {
    let step: String
    let value: Double

    init(_ step: String, _ value: Double) {
        self.step = step
        self.value = value
    }
}

/// The processor time of this process, as the system counts it.
enum OwnProcessor {
    /// The seconds that all threads of this process have used so far.
    static var seconds: Double {
        // POSIX defines a million of `clock()`'s units as a second.
        Double(clock()) / 1e6
    }
}

/// The memory of this process, as the system counts it.
enum OwnMemory {
    /// The peak of the resident memory in MB of 10^6 bytes; nil if `/proc` does not report it.
    static var peakMegabytes: Double? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
            return nil
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kibibytes = line?.split(whereSeparator: { !$0.isNumber }).first
        return kibibytes.flatMap { Double($0) }.map { $0 * 1_024 / 1e6 }
    }
}

extension FileManager {
    /// Returns the size of the files in a folder, in MB.
    func megabytes(in folder: URL) -> Double {
        let names = (try? contentsOfDirectory(atPath: folder.path)) ?? []
        let sizes = names.map { name in
            let path = folder.appending(path: name).path
            return (try? attributesOfItem(atPath: path))?[.size] as? Int ?? 0
        }
        return Double(sizes.reduce(0, +)) / 1e6
    }
}
