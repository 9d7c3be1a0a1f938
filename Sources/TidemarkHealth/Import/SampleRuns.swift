/// Sorts more samples than the memory can hold: sorted runs are written to a file, and then merged
/// in one pass.
final class SampleRuns {
    /// The range of the samples of each kind in seconds, by the kind's number.
    private(set) var extents: [UInt8: Range<Int64>] = [:]
    private(set) var count = 0

    private let folder: String
    private let capacity: Int
    private var buffer: [PackedSample] = []
    private var file: SpillFile?
    /// The runs, as ranges of samples from the start of the file.
    private var runs: [Range<Int>] = []

    /// A run has 5 MB of samples, and a merge can hold 128 runs. So two runs are merged early only
    /// beyond 16 million samples, which an export of 5 GB does not have.
    static let defaultCapacity = 131_072
    static let maxRuns = 128

    /// - Parameter folder: A folder with space for 40 bytes per sample.
    init(folder: String, capacity: Int = SampleRuns.defaultCapacity) {
        precondition(capacity > 0)
        self.folder = folder
        self.capacity = capacity
        buffer.reserveCapacity(capacity)
    }

    func add(_ samples: [PackedSample]) throws(HealthExportError) {
        for sample in samples {
            let known = extents[sample.kindNumber]
            let first = min(known?.lowerBound ?? sample.start, sample.start)
            let end = max(known?.upperBound ?? sample.end, sample.end)
            if known != first..<end { extents[sample.kindNumber] = first..<end }
            buffer.append(sample)
            if buffer.count == capacity { try spill() }
        }
        count += samples.count
    }

    private func spill() throws(HealthExportError) {
        buffer.sort(by: PackedSample.isBefore)
        var file = if let file { file } else { try SpillFile(in: folder) }
        if runs.count == Self.maxRuns {
            file = try merged(file)
            runs = [0..<file.count]
        }
        self.file = file
        let start = file.count
        try file.append(buffer)
        runs.append(start..<file.count)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Merges all runs into one, so a merge never needs more than its share of memory.
    private func merged(_ file: SpillFile) throws(HealthExportError) -> SpillFile {
        let merged = try SpillFile(in: folder)
        let samples = try SortedSamples(file: file, runs: runs, last: [])
        var batch: [PackedSample] = []
        while let sample = try samples.next() {
            batch.append(sample)
            if batch.count == 8_192 {
                try merged.append(batch)
                batch.removeAll(keepingCapacity: true)
            }
        }
        try merged.append(batch)
        duplicates += samples.duplicates
        return merged
    }

    /// The number of duplicates that were found before the last merge.
    private(set) var duplicates = 0

    /// Returns all samples in order, each measurement once. This uses up the runs.
    func sorted() throws(HealthExportError) -> SortedSamples {
        buffer.sort(by: PackedSample.isBefore)
        let last = buffer
        buffer = []
        return try SortedSamples(file: file, runs: runs, last: last)
    }
}

/// The merge of sorted runs, in order and without duplicates.
final class SortedSamples {
    private struct Head {
        var sample: PackedSample
        let run: Int
    }

    private var readers: [RunReader] = []
    /// A heap, the first sample on top.
    private var heads: [Head] = []
    private var previous: PackedSample?
    /// The number of duplicates that were left out.
    private(set) var duplicates = 0

    init(
        file: SpillFile?, runs: [Range<Int>], last: [PackedSample]
    ) throws(HealthExportError) {
        readers = runs.map { RunReader(file: file, range: $0, buffer: []) }
        readers.append(RunReader(file: nil, range: 0..<0, buffer: last))
        for run in readers.indices {
            guard let sample = try readers[run].next() else { continue }
            heads.append(Head(sample: sample, run: run))
        }
        heads.sort { PackedSample.isBefore($0.sample, $1.sample) }
    }

    func next() throws(HealthExportError) -> PackedSample? {
        while let sample = try pop() {
            if let previous, previous.isSame(as: sample) {
                duplicates += 1
                continue
            }
            previous = sample
            return sample
        }
        return nil
    }

    private func pop() throws(HealthExportError) -> PackedSample? {
        guard let top = heads.first else { return nil }
        if let following = try readers[top.run].next() {
            heads[0].sample = following
        } else {
            let last = heads.removeLast()
            if heads.isEmpty { return top.sample }
            heads[0] = last
        }
        sink()
        return top.sample
    }

    private func sink() {
        let moving = heads[0]
        var place = 0
        while true {
            var child = place * 2 + 1
            guard child < heads.count else { break }
            if child + 1 < heads.count,
                PackedSample.isBefore(heads[child + 1].sample, heads[child].sample)
            {
                child += 1
            }
            guard PackedSample.isBefore(heads[child].sample, moving.sample) else { break }
            heads[place] = heads[child]
            place = child
        }
        heads[place] = moving
    }
}

/// A run, read a few hundred samples at a time.
private struct RunReader {
    let file: SpillFile?
    var range: Range<Int>
    var buffer: [PackedSample]
    private var place = 0

    private static let step = 512

    init(file: SpillFile?, range: Range<Int>, buffer: [PackedSample]) {
        self.file = file
        self.range = range
        self.buffer = buffer
    }

    mutating func next() throws(HealthExportError) -> PackedSample? {
        if place == buffer.count {
            guard let file, !range.isEmpty else { return nil }
            let part = range.prefix(Self.step)
            try file.read(part, into: &buffer)
            range = part.upperBound..<range.upperBound
            place = 0
        }
        place += 1
        return buffer[place - 1]
    }
}
