/// Imports an Apple Health export into a ``HealthStore``, as a stream, in constant memory.
/// Importing it again, or importing exports in another order, changes nothing.
public struct HealthImport: Sendable {
    /// The progress of an import.
    public struct Progress: Hashable, Sendable {
        public enum Phase: Hashable, Sendable {
            case reading
            case storing(HealthKind)
        }

        public var phase: Phase
        /// The number of bytes of the file, compressed or not.
        public var bytesRead: Int64
        public var bytesTotal: Int64
        public var samples: Int
        /// The state of the newest seven days, which can be shown before the import ends.
        public var firstDays = FirstDays.lookedFor
    }

    /// The state of the newest seven days of a file, which are searched before the file is read
    /// from its beginning.
    public enum FirstDays: Hashable, Sendable {
        case lookedFor
        /// The newest days are in the store, while the rest is read.
        case stored
        /// The newest days are stored with the rest, at the end.
        case withTheRest(Reason)

        public enum Reason: Hashable, Sendable {
            /// The end of a zip cannot be read before its beginning.
            case packed
            /// The file is small and is read in a moment.
            case small
            /// The newest records are spread over the whole file.
            case scattered
        }
    }

    public struct Report: Hashable, Sendable {
        public internal(set) var counts = ExportCounts()
        /// The number of repeated measurements in the file.
        public internal(set) var duplicates = 0
        /// The number of new measurements.
        public internal(set) var added = 0
        /// The number of measurements that the store had already.
        public internal(set) var known = 0
        public internal(set) var changed: Set<HealthKind> = []
        /// The local days that can have changed, with one more day at either end.
        public internal(set) var changedDays: Set<HealthDay> = []
    }

    private let store: HealthStore
    private let priority: SourcePriority
    private let capacity: Int
    private let newest: NewestRecords.Settings
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - store: The store of the measurements.
    ///   - priority: The priority of the sources. Use the same for all imports into a store.
    ///   - clock: Measures the duration of an import, for the process's metrics.
    public init(
        into store: HealthStore, priority: SourcePriority = SourcePriority(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(
            into: store, priority: priority, capacity: SampleRuns.defaultCapacity, clock: clock)
    }

    init(
        into store: HealthStore, priority: SourcePriority, capacity: Int,
        newest: NewestRecords.Settings = NewestRecords.Settings(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.store = store
        self.priority = priority
        self.capacity = capacity
        self.newest = newest
        self.clock = clock
    }

    /// Reads an export and stores its measurements. The newest seven days are stored first if the
    /// file allows it.
    ///
    /// - Parameters:
    ///   - path: An `export.xml`, or a zip with one.
    ///   - progress: Called about once for each megabyte, after the search for the first days, and
    ///     before each kind is stored.
    /// - Returns: The counts. Bad records are counted and listed; the others are imported.
    /// - Throws: ``HealthExportError``. If the file cannot be read to its end, only its first days
    ///   are stored. If all its records are bad, nothing is stored. If the disk is full or the task
    ///   is cancelled, the kinds that were stored stay, and another import adds the rest.
    public func run(
        _ path: String, progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async throws -> Report {
        let elapsed = Self.stopwatch(clock)
        do {
            let report = try await bring(path, progress)
            HealthMetrics.imported(report.counts.isCutOff ? "cut_off" : "whole", in: elapsed())
            HealthMetrics.count(report)
            return report
        } catch {
            HealthMetrics.imported(
                error is CancellationError ? "cancelled" : "failed", in: elapsed())
            throw error
        }
    }

    private static func stopwatch(_ clock: some Clock<Duration>) -> () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    private func bring(
        _ path: String, _ progress: @escaping @Sendable (Progress) -> Void
    ) async throws -> Report {
        let first = try await firstDays(path)
        let state = first.state
        progress(
            Progress(
                phase: .reading, bytesRead: 0, bytesTotal: first.size, samples: 0,
                firstDays: state))
        let names = try store.write { try NameTables($0) }
        let reading = ExportReading(
            path: path, names: names, folder: store.folder, capacity: capacity
        ) { step in
            var step = step
            step.firstDays = state
            progress(step)
        }
        let read = try await reading.run()
        if read.counts.samples == 0, read.counts.bad > 0 {
            let file = path.split(separator: "/").last.map(String.init) ?? path
            throw HealthExportError.allBad(file: file, counts: read.counts)
        }
        var report = Report()
        report.counts = read.counts
        try merge(read, replaceable: first.identities, report: &report) { kind in
            progress(
                Progress(
                    phase: .storing(kind), bytesRead: read.bytesRead, bytesTotal: read.bytesRead,
                    samples: read.counts.samples, firstDays: state))
        }
        // The measurements of the first days were new too.
        report.added += first.merged.added
        report.known -= first.merged.added
        report.changed.formUnion(first.merged.change.kinds)
        for days in first.merged.change.days.values { report.changedDays.formUnion(days) }
        return report
    }
}

// MARK: - The first days

extension HealthImport {
    private struct First {
        var state: FirstDays
        var size: Int64
        var merged = HealthStoreReport()
        var identities: Set<UInt64> = []
    }

    /// Finds the newest seven days of the file and stores them, if that is less work than reading
    /// the whole file.
    @concurrent
    private func firstDays(_ path: String) async throws -> First {
        let file = try ReadOnlyFile(path)
        var first = First(state: .withTheRest(.small), size: file.size)
        let found = try NewestRecords.find(in: file, newest)
        guard case .found(let ranges, let since) = found else {
            if case .not(let reason) = found { first.state = .withTheRest(reason) }
            return first
        }
        var names = try store.write { try NameTables($0) }
        var samples: [PackedSample] = []
        for range in ranges {
            try Task.checkCancellation()
            samples += try NewestRecords.samples(in: range, of: file, &names, since: since)
        }
        samples.sort(by: PackedSample.isBefore)
        first.identities = Set(samples.map(\.identity))
        for kind in HealthKind.allCases {
            let own = samples.filter { $0.kindNumber == kind.rawValue }
            if own.isEmpty { continue }
            try Task.checkCancellation()
            let report = try store.write { db in
                var merge = try SampleMerge(db, priority: priority)
                try merge.merge(own, named: names)
                return merge.report
            }
            store.announce(report.change)
            first.merged.add(report)
        }
        first.state = .stored
        return first
    }
}

// MARK: - All of it

extension HealthImport {
    /// Stores each kind in its own transaction. After a kill between two transactions, the stored
    /// kinds are complete.
    private func merge(
        _ read: ExportReading.Result, replaceable: Set<UInt64>, report: inout Report,
        progress: (HealthKind) -> Void
    ) throws {
        let numbers = try store.write { try NameNumbers(read.names, in: $0) }
        let samples = try read.runs.sorted()
        var following = try samples.next()
        while let first = following {
            try Task.checkCancellation()
            let kind = first.kind
            progress(kind)
            guard let extent = read.runs.extents[kind.rawValue] else { break }
            var counts = (added: 0, known: 0, days: Set<HealthDay>())
            // With nothing new, nothing changes, not even the time of the file.
            _ = try store.database.write(keeping: { $0 }) { db in
                var merge = try MeasurementMerge(
                    db, kind: kind, extent: extent, names: try NameTables(db),
                    priority: priority, replaceable: replaceable)
                while let sample = following, sample.kindNumber == kind.rawValue {
                    try merge.add(numbers.translated(sample))
                    following = try samples.next()
                }
                try merge.finish()
                try HealthStore.note(merge.changedDays, in: db)
                counts = (merge.added, merge.known, merge.changedDays)
                return merge.changesStore
            }
            report.added += counts.added
            report.known += counts.known
            if !counts.days.isEmpty {
                report.changed.insert(kind)
                report.changedDays.formUnion(counts.days)
                var change = HealthChange()
                change.add(kind, counts.days)
                store.announce(change)
            }
        }
        report.duplicates = read.runs.duplicates + samples.duplicates
    }
}

/// Maps the numbers of a file's names to the store's numbers. Other imports can store names while
/// the file is read.
struct NameNumbers {
    private var sources: [UInt16] = []
    private var zones: [UInt16] = []
    private var areSame = true

    /// Keeps the names that the store does not know.
    init(_ names: NameTables, in db: HealthConnection) throws {
        var known = try NameTables(db)
        for source in names.sources {
            guard let number = known.number(of: source) else {
                throw HealthExportError.storage(detail: "there are too many sources")
            }
            sources.append(number)
        }
        // The first number means no zone.
        zones = [0] + names.zones.dropFirst().map { known.zone(named: $0) }
        try known.save(db)
        areSame =
            sources.enumerated().allSatisfy { Int($0.element) == $0.offset }
            && zones.enumerated().allSatisfy { Int($0.element) == $0.offset }
    }

    func translated(_ sample: PackedSample) -> PackedSample {
        if areSame { return sample }
        var sample = sample
        sample.source = sources[Int(sample.source)]
        sample.zone = zones[Int(sample.zone)]
        return sample
    }
}
