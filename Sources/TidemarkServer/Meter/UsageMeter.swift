import TidemarkModel

/// Counts the operations that Firestore bills: by the caller's label and client, by the call's
/// target, and by RPC. The counts are in memory and begin with the process, or with the last reset.
final class UsageMeter {
    /// The maximum number of labels, of clients, and of targets. Further names are counted
    /// together, so callers cannot fill the memory.
    static let maxNames = 10_000
    /// The maximum number of rows with all dimensions. Further rows are separated only by label and
    /// RPC.
    static let maxRows = 100_000
    /// The maximum bytes of a name. A hash replaces the rest of a longer name.
    static let maxNameBytes = 512

    static let unlabelled = "unlabelled"
    static let otherLabels = "other labels"

    /// The sum since the start. A reset does not change it.
    private(set) var total = Usage()
    /// The bill for the server's own calls, if they were billed. No other figure contains it.
    private(set) var unbilled = Usage()
    /// The counts since the last reset. A copy is a snapshot and shares the unchanged data.
    private(set) var table = Table()
    /// The label of calls without a label of their own, such as the name of the running test.
    var currentLabel: String?
    /// The reads by collection and query; nil if nobody has asked for them.
    var tally: ReadTally?
    /// Returns the indexes of a query, for the tally.
    private let indexes: (Query, [Aggregation], DatabaseID) -> [String]
    private let units: UnitBilling
    private let editions: DatabaseEditions

    init(
        _ units: UnitBilling = UnitBilling(), editions: DatabaseEditions = DatabaseEditions(),
        indexes: @escaping (Query, [Aggregation], DatabaseID) -> [String] = { _, _, _ in [] }
    ) {
        self.indexes = indexes
        self.units = units
        self.editions = editions
    }

    /// The usage by label, client, target and RPC.
    struct Table: Sendable {
        private var labels = NameTable(
            missing: UsageMeter.unlabelled, overflow: UsageMeter.otherLabels)
        private var clients = NameTable(missing: "unnamed", overflow: "other clients")
        private var targets = NameTable(missing: "none", overflow: "other targets")
        private var rows: [Key: Usage] = [:]

        fileprivate mutating func add(
            _ usage: Usage, by method: RPCMethod, _ context: CallContext, on target: String
        ) {
            var key = Key(
                label: labels.index(of: context.label), client: clients.index(of: context.client),
                target: targets.index(of: target), method: method)
            if rows.count >= UsageMeter.maxRows, rows[key] == nil {
                key.client = NameTable.overflowIndex
                key.target = NameTable.overflowIndex
            }
            rows[key, default: Usage()] += usage
        }
    }

    fileprivate struct Key: Hashable {
        var label: Int32
        var client: Int32
        var target: Int32
        var method: RPCMethod
    }

    /// - Parameters:
    ///   - target: The target of the call, such as ``Query/meterTarget``.
    ///   - units: The units of a database of the Enterprise edition; nil for one read unit for each
    ///     read, as for a small document that is read by its name.
    ///   - subject: The object of the reads for the tally; nil for the name of the target.
    func countReads(
        _ count: Int, by method: RPCMethod, _ context: CallContext, on target: String,
        units: BilledUnits? = nil, of subject: @autoclosure () -> ReadSubject? = nil
    ) {
        precondition(count >= 0)
        let usage = Usage(
            reads: count, units: billedUnits(units, reads: count, context: context, target: target))
        add(usage, by: method, context, on: target, of: subject())
    }

    /// Returns the units of reads: zero for a database of the Standard edition.
    ///
    /// - Parameter units: The known units; nil if only the number of reads is known.
    func billedUnits(
        _ units: BilledUnits?, reads: Int, context: CallContext, target: String
    ) -> BilledUnits {
        guard editions.edition(of: context.database).isBilledByUnits else { return BilledUnits() }
        let each = target == MeterDetail.ofRules ? self.units.rulesReadUnits : 1
        return units ?? BilledUnits(read: reads * each)
    }

    func add(
        _ usage: Usage, by method: RPCMethod, _ context: CallContext, on target: String,
        of subject: @autoclosure () -> ReadSubject? = nil
    ) {
        if context.isUnbilled {
            unbilled += usage
            return
        }
        if tally == nil, usage == Usage() { return }
        let context = labelled(context)
        tally?.add(
            usage, of: subject() ?? ReadSubject(.place(target)), by: method,
            label: context.tallyLabel,
            indexes: { [indexes] in indexes($0, $1, context.database) })
        if usage == Usage() { return }
        total += usage
        table.add(usage, by: method, context, on: target)
    }

    /// Returns the context with the label under which its reads are counted. A caller with an empty
    /// label is counted without one.
    func labelled(_ context: CallContext) -> CallContext {
        guard let label = context.label ?? currentLabel else { return context }
        var context = context
        context.label = label.isEmpty ? nil : label
        return context
    }

    /// Resets the counts to zero.
    func reset() { table = Table() }
}

// MARK: - Reports

extension UsageMeter.Table {
    /// The rows by label, sorted by label.
    var byLabel: [MeterRow] {
        var result: [Int32: MeterRow] = [:]
        for (key, usage) in rows {
            let empty = MeterRow(
                label: labels[key.label], reads: 0, writes: 0, deletes: 0, readsByMethod: [:])
            var row = result[key.label] ?? empty
            row.reads += usage.reads
            row.writes += usage.writes
            row.deletes += usage.deletes
            if !usage.units.isZero { row.units = (row.units ?? BilledUnits()) + usage.units }
            if usage.reads > 0 { row.readsByMethod[key.method.rawValue, default: 0] += usage.reads }
            result[key.label] = row
        }
        return result.values.sorted { $0.label.precedesInBytes($1.label) }
    }

    /// Returns the rows by the given dimensions, sorted by cost, highest first.
    func report(by dimensions: Set<MeterDimension>) -> [MeterDetail] {
        struct Group: Hashable {
            var label, client, target: Int32?
            var method: RPCMethod?
        }
        var groups: [Group: Usage] = [:]
        for (key, usage) in rows {
            let group = Group(
                label: dimensions.contains(.label) ? key.label : nil,
                client: dimensions.contains(.client) ? key.client : nil,
                target: dimensions.contains(.target) ? key.target : nil,
                method: dimensions.contains(.method) ? key.method : nil)
            groups[group, default: Usage()] += usage
        }
        let details = groups.map { group, usage in
            MeterDetail(
                label: group.label.map { labels[$0] },
                client: group.client.map { clients[$0] },
                target: group.target.map { targets[$0] }, method: group.method?.rawValue,
                reads: usage.reads, writes: usage.writes, deletes: usage.deletes,
                units: usage.units.isZero ? nil : usage.units)
        }
        // The names are made once per row, not once per comparison.
        let ranked = details.map { (rank: $0.rank, name: $0.name, detail: $0) }
        return ranked.sorted { ($1.rank, $0.name) < ($0.rank, $1.name) }.map(\.detail)
    }
}

extension MeterDetail {
    fileprivate var rank: Int { reads + writes + deletes }
    fileprivate var name: String {
        [label, client, target, method].map { $0 ?? "" }.joined(separator: "\u{0}")
    }
}

/// Numbers for names, up to a maximum. All further names share one number.
private struct NameTable: Sendable {
    static let overflowIndex: Int32 = 1

    private var names: [String]
    private var indices: [ByteString: Int32] = [:]

    /// - Parameter missing: The name for calls without a name.
    init(missing: String, overflow: String) {
        names = [missing, overflow]
        indices[ByteString(missing)] = 0
        indices[ByteString(overflow)] = Self.overflowIndex
    }

    subscript(index: Int32) -> String { names[Int(index)] }

    mutating func index(of name: String?) -> Int32 {
        guard let name else { return 0 }
        let key = ByteString(name.boundedForMeter)
        if let index = indices[key] { return index }
        if names.count >= UsageMeter.maxNames { return Self.overflowIndex }
        names.append(key.text)
        indices[key] = Int32(names.count - 1)
        return Int32(names.count - 1)
    }
}

extension String {
    fileprivate var boundedForMeter: String {
        guard utf8.count > UsageMeter.maxNameBytes else { return self }
        // The hash is FNV-1a. It separates long names with the same beginning.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let kept = utf8.prefix(UsageMeter.maxNameBytes)
        return String(decoding: kept, as: UTF8.self) + "… #" + String(hash, radix: 16)
    }
}
