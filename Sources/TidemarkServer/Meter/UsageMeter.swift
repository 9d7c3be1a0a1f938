import TidemarkModel

/// Counts what Firestore would bill for: by the caller's label and client, by what the call was about,
/// and by RPC. In memory: it counts from the start of the process, or from the last reset.
final class UsageMeter {
    /// Labels, clients and targets beyond this many each are counted together, so that a caller cannot
    /// fill the memory.
    static let maxNames = 10_000
    /// Rows beyond this many are told apart by label and RPC only.
    static let maxRows = 100_000
    /// A longer name is cut off, and a number takes the place of the rest.
    static let maxNameBytes = 512

    static let unlabelled = "unlabelled"
    static let otherLabels = "other labels"

    /// Everything counted since the start; a reset leaves it.
    private(set) var total = Usage()
    /// What calls of the server's own would have cost: part of no other figure.
    private(set) var unbilled = Usage()
    /// What was counted since the last reset. A copy is as of its time, and shares what does not change.
    private(set) var table = Table()

    /// Usage by label, client, target and RPC.
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

    /// - Parameter target: What the call was about: ``Query/meterTarget`` and the like.
    func countReads(
        _ count: Int, by method: RPCMethod, _ context: CallContext, on target: String
    ) {
        precondition(count >= 0)
        if count == 0 { return }
        add(Usage(reads: count), by: method, context, on: target)
    }

    func add(
        _ usage: Usage, by method: RPCMethod, _ context: CallContext, on target: String
    ) {
        if usage == Usage() { return }
        if context.isUnbilled {
            unbilled += usage
            return
        }
        total += usage
        table.add(usage, by: method, context, on: target)
    }

    /// Begins again at nothing.
    func reset() { table = Table() }
}

// MARK: - Reports

extension UsageMeter.Table {
    /// By label, in the order of the labels.
    var byLabel: [MeterRow] {
        var result: [Int32: MeterRow] = [:]
        for (key, usage) in rows {
            let empty = MeterRow(
                label: labels[key.label], reads: 0, writes: 0, deletes: 0, readsByMethod: [:])
            var row = result[key.label] ?? empty
            row.reads += usage.reads
            row.writes += usage.writes
            row.deletes += usage.deletes
            if usage.reads > 0 { row.readsByMethod[key.method.rawValue, default: 0] += usage.reads }
            result[key.label] = row
        }
        return result.values.sorted { $0.label.precedesInBytes($1.label) }
    }

    /// By the dimensions that are given; the dearest rows first.
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
                reads: usage.reads, writes: usage.writes, deletes: usage.deletes)
        }
        // Names are made once for each row, and not for each comparison.
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

/// Numbers for names, up to a bound: what comes after it has one number together.
private struct NameTable: Sendable {
    static let overflowIndex: Int32 = 1

    private var names: [String]
    private var indices: [ByteString: Int32] = [:]

    /// - Parameter missing: The name of what has none.
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
        // FNV-1a: two long names that begin alike stay apart.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let kept = utf8.prefix(UsageMeter.maxNameBytes)
        return String(decoding: kept, as: UTF8.self) + "… #" + String(hash, radix: 16)
    }
}
