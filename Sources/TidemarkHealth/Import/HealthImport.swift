import GRDB

/// Imports an Apple Health export: reads it as a stream, sorts what it measured, and brings it into
/// a ``HealthStore``. Importing it again, or in another order, changes nothing.
public struct HealthImport: Sendable {
    /// How far an import is.
    public struct Progress: Hashable, Sendable {
        public enum Phase: Hashable, Sendable {
            case reading
            case storing(HealthKind)
        }

        public var phase: Phase
        /// Of the file as it lies there, packed or not.
        public var bytesRead: Int64
        public var bytesTotal: Int64
        public var samples: Int
    }

    public struct Report: Hashable, Sendable {
        public internal(set) var counts = ExportCounts()
        /// Measurements that stand in the file more than once.
        public internal(set) var duplicates = 0
        /// Measurements that the store did not have.
        public internal(set) var added = 0
        /// Measurements that the store had.
        public internal(set) var known = 0
        public internal(set) var changed: Set<HealthKind> = []
        /// Local days of which something may have changed, a day more at either end.
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

    /// - Parameters:
    ///   - path: Of an `export.xml` or of the zip that holds one.
    ///   - progress: Called once a megabyte or so, and before each kind is stored.
    /// - Throws: When the file is no export or cannot be read to its end, and then nothing is
    ///   stored; when the disk is full, and then kinds that were stored stay, and importing again
    ///   adds the rest. Cancellation is like an end of the disk.
    /// - Returns: What was found. Bad records are counted and listed, and the others imported.
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
