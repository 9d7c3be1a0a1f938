import GRDB

/// Imports an Apple Health export into a ``HealthStore``, as a stream, in constant memory.
/// Importing it again, or exports in another order, changes nothing.
public struct HealthImport: Sendable {
    /// How far an import is.
    public struct Progress: Hashable, Sendable {
        public enum Phase: Hashable, Sendable {
            case reading
            case storing(HealthKind)
        }

        public var phase: Phase
        /// Bytes of the file, packed or not.
        public var bytesRead: Int64
        public var bytesTotal: Int64
        public var samples: Int
    }

    public struct Report: Hashable, Sendable {
        public internal(set) var counts = ExportCounts()
        /// Measurements that are in the file more than once.
        public internal(set) var duplicates = 0
        /// New measurements.
        public internal(set) var added = 0
        /// Measurements that the store had already.
        public internal(set) var known = 0
        public internal(set) var changed: Set<HealthKind> = []
        /// Local days that may have changed, with one more day at either end.
        public internal(set) var changedDays: Set<HealthDay> = []
    }

    private let store: HealthStore
    private let priority: SourcePriority
    private let capacity: Int

    public init(into store: HealthStore, priority: SourcePriority = SourcePriority()) {
        self.init(into: store, priority: priority, capacity: SampleRuns.defaultCapacity)
    }

    init(into store: HealthStore, priority: SourcePriority, capacity: Int) {
        self.store = store
        self.priority = priority
        self.capacity = capacity
    }

    /// Reads an export and stores its measurements.
    ///
    /// - Parameters:
    ///   - path: An `export.xml`, or a zip with one.
    ///   - progress: Called about once for each megabyte, and before each kind is stored.
    /// - Returns: What was found. Bad records are counted and listed; the others are imported.
    /// - Throws: ``HealthExportError``. If the file cannot be read to its end, nothing is stored.
    ///   If the disk is full or the task is cancelled, the kinds that were stored stay; importing
    ///   again adds the rest.
    public func run(
        _ path: String, progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async throws -> Report {
        let names = try store.names()
        let reading = ExportReading(
            path: path, names: names, folder: store.folder, capacity: capacity,
            progress: progress)
        let read = try await reading.run()
        var report = Report()
        report.counts = read.counts
        try store.merge(read, priority: priority, report: &report) { kind in
            progress(
                Progress(
                    phase: .storing(kind), bytesRead: read.bytesRead, bytesTotal: read.bytesRead,
                    samples: read.counts.samples))
        }
        return report
    }
}

extension HealthStore {
    /// The numbers that are in use for sources and zones.
    func names() throws(HealthExportError) -> NameTables {
        try read { snapshot in
            let sources = try Row.fetchAll(
                snapshot.db, sql: "SELECT name, device FROM source ORDER BY number"
            ).map { row in
                HealthSource(
                    name: row[0], device: HealthSource.Device(rawValue: row[1]) ?? .other)
            }
            let zones = try String.fetchAll(
                snapshot.db, sql: "SELECT name FROM zone ORDER BY number")
            return NameTables(sources: sources, zones: [""] + zones)
        }
    }

    /// A transaction a kind: killed between two, the kinds before are complete.
    func merge(
        _ read: ExportReading.Result, priority: SourcePriority,
        report: inout HealthImport.Report, progress: (HealthKind) -> Void
    ) throws {
        try save(read.names)
        let samples = try read.runs.sorted()
        var following = try samples.next()
        while let first = following {
            try Task.checkCancellation()
            let kind = first.kind
            progress(kind)
            guard let extent = read.runs.extents[kind.rawValue] else { break }
            var counts = (added: 0, known: 0, days: Set<HealthDay>())
            try database.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    var merge = try MeasurementMerge(
                        db, kind: kind, extent: extent, names: read.names, priority: priority)
                    while let sample = following, sample.kindNumber == kind.rawValue {
                        try merge.add(sample)
                        following = try samples.next()
                    }
                    try merge.finish()
                    try HealthStore.note(merge.changedDays, in: db)
                    counts = (merge.added, merge.known, merge.changedDays)
                    // With nothing new, nothing changes, not even the time of the file.
                    return merge.added > 0 ? .commit : .rollback
                }
            }
            report.added += counts.added
            report.known += counts.known
            if counts.added > 0 {
                report.changed.insert(kind)
                report.changedDays.formUnion(counts.days)
                announce([kind])
            }
        }
        report.duplicates = read.runs.duplicates + samples.duplicates
    }

    private func save(_ names: NameTables) throws {
        try database.write { db in
            for (number, source) in names.sources.enumerated() {
                try db.execute(
                    sql: "INSERT OR IGNORE INTO source (number, name, device) VALUES (?, ?, ?)",
                    arguments: [number, source.name, source.device.rawValue])
            }
            for (number, zone) in names.zones.enumerated().dropFirst() {
                try db.execute(
                    sql: "INSERT OR IGNORE INTO zone (number, name) VALUES (?, ?)",
                    arguments: [number, zone])
            }
        }
    }
}
