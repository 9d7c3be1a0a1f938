/// Reads an export to its end, in three concurrent tasks: the first reads and unpacks, the second
/// finds the records, and the third sorts them.
struct ExportReading: Sendable {
    struct Result {
        let counts: ExportCounts
        let names: NameTables
        let runs: SampleRuns
        let bytesRead: Int64
    }

    let path: String
    let names: NameTables
    let folder: String
    let capacity: Int
    let progress: @Sendable (HealthImport.Progress) -> Void

    private static let blocks = 3
    private static let batch = 8_192

    func run() async throws -> Result {
        let full = Conveyor<ByteBlock>(limit: Self.blocks)
        let free = Conveyor<ByteBlock>(limit: Self.blocks + 1)
        let batches = Conveyor<[PackedSample]>(limit: 4)
        for _ in 0..<Self.blocks { await free.send(ByteBlock()) }
        return try await withTaskCancellationHandler {
            async let read: Void = read(into: full, free: free)
            async let sorted = sort(batches)
            let scanned: Swift.Result<(ExportScanner, Int64), any Error>
            do { scanned = .success(try await scan(full, free: free, into: batches)) } catch {
                scanned = .failure(error)
            }
            // A task that fails ends the others; the first error is the one to report.
            batches.end()
            free.end()
            full.end()
            // A cancelled import has no valid result.
            try Task.checkCancellation()
            try await read
            let (scanner, bytes) = try scanned.get()
            let runs = try await sorted.runs
            try Task.checkCancellation()
            return Result(
                counts: scanner.counts, names: scanner.names, runs: runs, bytesRead: bytes)
        } onCancel: {
            full.end()
            free.end()
            batches.end()
        }
    }

    private func read(into full: Conveyor<ByteBlock>, free: Conveyor<ByteBlock>) async throws {
        defer { full.end() }
        var source = try HealthExport.open(path)
        while let block = await free.receive() {
            let count = try source.read(into: block.space)
            block.count = count
            block.progress = source.progress
            if count == 0 { return }
            guard await full.send(block) else { return }
        }
    }

    private func scan(
        _ full: Conveyor<ByteBlock>, free: Conveyor<ByteBlock>,
        into batches: Conveyor<[PackedSample]>
    ) async throws -> (ExportScanner, Int64) {
        var scanner = ExportScanner(names: names)
        var samples: [PackedSample] = []
        var carried: [UInt8] = []
        var bytesRead: Int64 = 0
        var sinceProgress = 0
        while let block = await full.receive() {
            let bytes = block.bytes(after: carried)
            let consumed = try scanning(&scanner, bytes: bytes, isLast: false, samples: &samples)
            carried = Array(bytes[consumed...])
            bytesRead = block.progress.done
            sinceProgress += block.count
            if sinceProgress >= 1 << 20 {
                sinceProgress = 0
                progress(
                    HealthImport.Progress(
                        phase: .reading, bytesRead: bytesRead, bytesTotal: block.progress.total,
                        samples: scanner.counts.samples))
            }
            await free.send(block)
            if samples.count >= Self.batch {
                guard await batches.send(samples) else { break }
                samples = []
                samples.reserveCapacity(Self.batch + 4_096)
            }
        }
        let rest = carried
        _ = try rest.withUnsafeBytes { bytes in
            try scanning(&scanner, bytes: bytes, isLast: true, samples: &samples)
        }
        await batches.send(samples)
        return (scanner, bytesRead)
    }

    private func scanning(
        _ scanner: inout ExportScanner, bytes: UnsafeRawBufferPointer, isLast: Bool,
        samples: inout [PackedSample]
    ) throws(HealthExportError) -> Int {
        do throws(HealthExportError) {
            return try scanner.scan(bytes, isLast: isLast, into: &samples)
        } catch {
            guard case .notAnExport = error else { throw error }
            throw .notAnExport(file: path.split(separator: "/").last.map(String.init) ?? path)
        }
    }

    private func sort(_ batches: Conveyor<[PackedSample]>) async throws -> Sorted {
        defer { batches.end() }
        let runs = SampleRuns(folder: folder, capacity: capacity)
        while let batch = await batches.receive() { try runs.add(batch) }
        return Sorted(runs: runs)
    }
}

/// The sorted runs, which the sorting task passes to the merging task.
// @unchecked: a single task at a time owns this value, and the task that created it has ended.
private struct Sorted: @unchecked Sendable {
    let runs: SampleRuns
}

/// The bytes of an export, with room before them for the end of the previous block.
// @unchecked: a single task at a time owns this block, which is the task that received it.
private final class ByteBlock: @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer
    var count = 0
    var progress: (done: Int64, total: Int64) = (0, 0)

    private static let size = 262_144
    private static let headroom = ExportScanner.maxElement + 64

    init() {
        memory = .allocate(byteCount: Self.headroom + Self.size, alignment: 16)
    }

    deinit { memory.deallocate() }

    var space: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: memory[Self.headroom...])
    }

    func bytes(after carried: [UInt8]) -> UnsafeRawBufferPointer {
        precondition(carried.count <= Self.headroom)
        let start = Self.headroom - carried.count
        UnsafeMutableRawBufferPointer(rebasing: memory[start..<Self.headroom])
            .copyBytes(from: carried)
        return UnsafeRawBufferPointer(rebasing: memory[start..<(Self.headroom + count)])
    }
}
