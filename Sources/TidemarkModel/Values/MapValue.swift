/// The fields of a document or of a nested map: unique keys, in byte order.
///
/// This is not a `Dictionary`, because Swift's strings are equal by canonical equivalence and
/// Firestore's keys by bytes, and because small maps are faster this way. A lookup is a binary
/// search. Setting a new key moves the entries after it, so build large maps with an initializer.
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

    /// The entries, in the byte order of their keys.
    public private(set) var entries: [Entry]

    public init() { entries = [] }

    /// Later duplicates of a key replace earlier ones.
    public init(_ pairs: some Sequence<(String, Value)>) {
        self.init(unordered: pairs.map { Entry(key: $0, value: $1) })
    }

    /// Sorts the entries. Among equal keys, the last entry counts. Costs O(n log n) at most.
    init(unordered: [Entry]) {
        let inOrder = zip(unordered, unordered.dropFirst()).allSatisfy {
            $0.key.precedesInBytes($1.key)
        }
        entries = unordered
        if !inOrder { Self.sort(&entries) }
    }

    /// Makes a map of entries that are already in order and have no duplicate keys.
    init(ordered: [Entry]) { entries = ordered }

    /// Sorts the entries in place, and removes all but the last of entries with equal keys.
    ///
    /// Takes 6 bytes of memory for each entry beside them. A copy of the entries would double the
    /// memory of a large request.
    static func sort(_ entries: inout [Entry]) {
        precondition(entries.count <= Int(UInt32.max))
        var order = Array(0..<UInt32(entries.count))
        // The index makes the sort stable, so the last of several equal keys wins.
        order.sort { a, b in
            switch Comparison.bytes(entries[Int(a)].key, entries[Int(b)].key) {
            case .ascending: true
            case .equal: a < b
            case .descending: false
            }
        }
        arrange(&entries, in: &order)
        keepLast(&entries)
    }

    /// Moves to each place the entry that `order` names for it, along the cycles of the order.
    private static func arrange(_ entries: inout [Entry], in order: inout [UInt32]) {
        for start in order.indices {
            var place = start
            while true {
                let source = Int(order[place])
                order[place] = UInt32(place)
                if source == start { break }
                entries.swapAt(place, source)
                place = source
            }
        }
    }

    /// Removes all but the last of entries with equal keys. The entries are in order.
    private static func keepLast(_ entries: inout [Entry]) {
        var count = 0
        for index in entries.indices {
            if count > 0, entries[count - 1].key.hasSameBytes(as: entries[index].key) { count -= 1 }
            if count < index { entries.swapAt(count, index) }
            count += 1
        }
        entries.removeLast(entries.count - count)
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
    /// The value at `path`; nil if a segment of the path is missing or its parent is not a map.
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

    /// Sets or removes a value. Setting creates maps along the path and replaces values that are
    /// not maps. Removing creates no maps, and keeps a map that becomes empty.
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
            // Takes the map out of the entry, so that it is changed in place and not copied.
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
    /// Returns only the given fields that exist. Maps along a path contain nothing else.
    ///
    /// `[.documentID]` names no field, so the result is empty. Paths may repeat or contain each
    /// other. Costs one lookup per path.
    public func projected(to fields: [FieldPath]) -> MapValue {
        var result = MapValue()
        // Sets shorter paths first, so that a whole map does not replace a value selected from it.
        for field in fields.sorted(by: { $0.segments.count < $1.segments.count })
        where !field.isDocumentID {
            if let value = self[field] { result[field] = value }
        }
        return result
    }
}
