import TidemarkSystem

/// Samples in a file without a name: the file disappears with the process in every case.
final class SpillFile {
    private(set) var count = 0
    private let descriptor: CInt
    private static let stride = MemoryLayout<PackedSample>.stride

    init(in folder: String) throws(HealthExportError) {
        var template = Array((folder + "/tidemark-health-XXXXXX").utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Self.failure() }
        template.withUnsafeBufferPointer { _ = unlink($0.baseAddress!) }
    }

    deinit { close(descriptor) }

    func append(_ samples: [PackedSample]) throws(HealthExportError) {
        let start = count * Self.stride
        let descriptor = descriptor
        let failure = samples.withUnsafeBytes { bytes -> HealthExportError? in
            var done = 0
            while done < bytes.count {
                let written = pwrite(
                    descriptor, bytes.baseAddress! + done, bytes.count - done,
                    off_t(start + done))
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return Self.failure() }
                done += written
            }
            return nil
        }
        if let failure { throw failure }
        count += samples.count
    }

    func read(_ range: Range<Int>, into samples: inout [PackedSample]) throws(HealthExportError) {
        precondition(range.upperBound <= count)
        var failure: HealthExportError?
        let descriptor = descriptor
        samples = [PackedSample](unsafeUninitializedCapacity: range.count) { buffer, filled in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            let wanted = range.count * Self.stride
            var done = 0
            while done < wanted {
                let found = pread(
                    descriptor, bytes.baseAddress! + done, wanted - done,
                    off_t(range.lowerBound * Self.stride + done))
                if found < 0, errno == EINTR { continue }
                guard found > 0 else {
                    failure = Self.failure()
                    return
                }
                done += found
            }
            filled = range.count
        }
        if let failure { throw failure }
    }

    private static func failure() -> HealthExportError {
        .storage(detail: "no room for sorting: \(String(cString: strerror(errno)))")
    }
}
