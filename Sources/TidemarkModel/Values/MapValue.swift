/// The fields of a document or of a map inside one: unique keys, kept in the order of their bytes.
///
/// Not a `Dictionary`, because Swift's strings are equal by canonical equivalence and Firestore's
/// keys by bytes; and small maps are faster this way. A look-up is a binary search; setting a new key
/// moves those behind it, so build large maps with an initializer.
public struct MapValue: Sendable {
    public struct Entry: Sendable, Hashable {
        public let key: String
        public var value: Value

        public init(key: String, value: Value) {
            self.key = key
            self.value = value
        }

        public static func == (left: Entry, right: Entry) -> Bool {
            left.key.hasSameBytes(as: right.key) && left.value == right.value
        }

        public func hash(into hasher: inout Hasher) {
            key.hashBytes(into: &hasher)
            hasher.combine(value)
        }
    }

    /// In the order of the keys' bytes.
    public private(set) var entries: [Entry]

    public init() { entries = [] }

    /// Later duplicates of a key replace earlier ones.
    public init(_ pairs: some Sequence<(String, Value)>) {
        self.init(unordered: pairs.map { Entry(key: $0, value: $1) })
    }

    /// Sorts the entries; of equal keys the last one counts. O(n log n), however they come.
    init(unordered: [Entry]) {
        let inOrder = zip(unordered, unordered.dropFirst()).allSatisfy {
            $0.key.precedesInBytes($1.key)
        }
        self.init(ordered: inOrder ? unordered : Self.sorted(unordered))
    }

    /// For entries that are in order and have no key twice.
    init(ordered: [Entry]) { entries = ordered }

    private static func sorted(_ unordered: [Entry]) -> [Entry] {
        // The index makes the sort stable, so that "last" means what it says.
        let order = unordered.indices.sorted { a, b in
            switch Comparison.bytes(unordered[a].key, unordered[b].key) {
            case .ascending: true
            case .equal: a < b
            case .descending: false
            }
        }
        var result: [Entry] = []
        result.reserveCapacity(order.count)
        for index in order {
            if let last = result.last, last.key.hasSameBytes(as: unordered[index].key) {
                result.removeLast()
            }
            result.append(unordered[index])
        }
        return result
    }

    public subscript(key: String) -> Value? {
        get {
            let (index, found) = position(of: key)
            return found ? entries[index].value : nil
        }
        set {
            let (index, found) = position(of: key)
            switch (newValue, found) {
            case (let value?, true): entries[index].value = value
            case (let value?, false): entries.insert(Entry(key: key, value: value), at: index)
            case (nil, true): entries.remove(at: index)
            case (nil, false): break
            }
        }
    }

    private func position(of key: String) -> (index: Int, found: Bool) {
        key.withBytes { key in
            entries.withUnsafeBufferPointer { entries in
                var low = 0
                var high = entries.count
                while low < high {
                    let middle = (low + high) / 2
                    switch entries[middle].key.withBytes({ Comparison.bytes($0, key) }) {
                    case .ascending: low = middle + 1
                    case .equal: return (middle, true)
                    case .descending: high = middle
                    }
                }
                return (low, false)
            }
        }
    }
}

extension MapValue: Hashable {}

extension MapValue: RandomAccessCollection {
    public var startIndex: Int { entries.startIndex }
    public var endIndex: Int { entries.endIndex }
    public subscript(position: Int) -> Entry { entries[position] }
}

extension MapValue: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, Value)...) { self.init(elements) }
}

extension MapValue {
    /// The value at `path`, or nil where a step is missing or is no map.
    public subscript(path: FieldPath) -> Value? {
        get {
            var current = self
            for segment in path.segments.dropLast() {
                guard case .map(let inner)? = current[segment] else { return nil }
                current = inner
            }
            return current[path.segments[path.segments.count - 1]]
        }
        set { set(newValue, at: path.segments[...]) }
    }

    /// Setting makes maps on the way, in place of what is no map; removing makes none, and leaves a
    /// map that it empties.
    private mutating func set(_ value: Value?, at path: ArraySlice<String>) {
        precondition(!path.isEmpty)
        let head = path[path.startIndex]
        let rest = path.dropFirst()
        if rest.isEmpty {
            self[head] = value
            return
        }
        let (index, found) = position(of: head)
        if found, case .map(var inner) = entries[index].value {
            // Taken out, so that it is changed in place and not copied.
            entries[index].value = .null
            inner.set(value, at: rest)
            entries[index].value = .map(inner)
        } else if value != nil {
            var inner = MapValue()
            inner.set(value, at: rest)
            self[head] = .map(inner)
        }
    }
}

extension MapValue {
    /// Only the given fields, where they exist; maps on the way come with nothing else in them.
    ///
    /// `[.documentID]` names no field, so it gives none; paths may repeat or lie in each other.
    /// Costs a search for each path.
    public func projected(to fields: [FieldPath]) -> MapValue {
        var result = MapValue()
        // Shorter paths first, so that a whole map is not laid over what was picked from it.
        for field in fields.sorted(by: { $0.segments.count < $1.segments.count })
        where !field.isDocumentID {
            if let value = self[field] { result[field] = value }
        }
        return result
    }
}
