import Foundation

/// Steps that are measured in one process. Each process runs one part of one side, so that neither's
/// memory and caches serve the other.
enum ClientPart: String, CaseIterable {
    /// Loads with the conversation query's index.
    case load
    /// Loads without an index, and has the indexes made.
    case fill
    /// One open and one read each.
    case coldQuery, coldPoint
    case warm
    case writes

    /// The figure of the processor time that a process of this part uses, on all of its threads.
    var processorStep: String { "cpu_" + rawValue }
}

/// What a child process has measured; a line of JSON each.
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

/// This process's memory, as the system counts it.
enum OwnMemory {
    /// The most that was resident at any time, in MB of 10^6 bytes; nil where `/proc` does not say.
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
    /// Of the files of a folder, in MB.
    func megabytes(in folder: URL) -> Double {
        let names = (try? contentsOfDirectory(atPath: folder.path)) ?? []
        let sizes = names.map { name in
            let path = folder.appending(path: name).path
            return (try? attributesOfItem(atPath: path))?[.size] as? Int ?? 0
        }
        return Double(sizes.reduce(0, +)) / 1e6
    }
}
