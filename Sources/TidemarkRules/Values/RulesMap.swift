public import TidemarkModel

/// A map from names to values, in the byte order of the names.
///
/// A map of a document keeps the stored fields, and converts a field when it is read.
public struct RulesMap: Sendable {
    private enum Storage: Sendable {
        case fields(MapValue)
        /// The entries in order, without duplicate keys.
        case entries([(key: String, value: RulesValue)])
    }

    private let storage: Storage

    public init(_ fields: MapValue) { storage = .fields(fields) }

    /// Makes a map of pairs. Later values of a key replace earlier ones.
    public init(_ pairs: [(key: String, value: RulesValue)]) {
        var entries: [(key: String, value: RulesValue)] = []
        entries.reserveCapacity(pairs.count)
        let order = pairs.indices.sorted { a, b in
            switch Comparison.bytes(pairs[a].key, pairs[b].key) {
            case .ascending: true
            case .equal: a < b
            case .descending: false
            }
        }
        for index in order {
            if let last = entries.last, last.key.hasSameBytes(as: pairs[index].key) {
                entries.removeLast()
            }
            entries.append(pairs[index])
        }
        storage = .entries(entries)
    }

    public subscript(key: String) -> RulesValue? {
        switch storage {
        case .fields(let fields): return fields[key].map(RulesValue.init)
        case .entries(let entries):
            var (low, high) = (0, entries.count)
            while low < high {
                let middle = (low + high) / 2
                switch Comparison.bytes(entries[middle].key, key) {
                case .ascending: low = middle + 1
                case .equal: return entries[middle].value
                case .descending: high = middle
                }
            }
            return nil
        }
    }

    public var count: Int {
        switch storage {
        case .fields(let fields): fields.count
        case .entries(let entries): entries.count
        }
    }

    public var entries: [(key: String, value: RulesValue)] {
        switch storage {
        case .fields(let fields): fields.map { ($0.key, RulesValue($0.value)) }
        case .entries(let entries): entries
        }
    }

    /// The entries; empty for a map of a document, which keeps its stored fields.
    var entriesMade: [(key: String, value: RulesValue)] {
        if case .entries(let entries) = storage { entries } else { [] }
    }

    /// The approximate size in bytes.
    var extent: Int {
        switch storage {
        case .fields(let fields): fields.storageSize
        case .entries(let entries):
            entries.reduce(0) { sum, entry in
                if case .map(let map) = entry.value { sum + map.extent } else { sum + 64 }
            }
        }
    }

    var keys: [RulesValue] {
        switch storage {
        case .fields(let fields): fields.map { .string($0.key) }
        case .entries(let entries): entries.map { .string($0.key) }
        }
    }
}
