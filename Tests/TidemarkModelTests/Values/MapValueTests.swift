import Testing

@testable import TidemarkModel

struct `Map values` {
    /// A slow model of a map: a nested dictionary whose keys are bytes.
    private indirect enum Oracle: Equatable {
        case leaf(Value)
        case map([[UInt8]: Oracle])

        init(_ fields: MapValue) {
            var result: [[UInt8]: Oracle] = [:]
            for entry in fields { result[Array(entry.key.utf8)] = Oracle(entry.value) }
            self = .map(result)
        }

        init(_ value: Value) {
            if case .map(let fields) = value { self.init(fields) } else { self = .leaf(value) }
        }

        func get(_ path: ArraySlice<String>) -> Oracle? {
            guard let head = path.first else { return self }
            guard case .map(let entries) = self else { return nil }
            return entries[Array(head.utf8)]?.get(path.dropFirst())
        }

        mutating func set(_ value: Oracle?, at path: ArraySlice<String>) {
            var entries: [[UInt8]: Oracle] = [:]
            if case .map(let own) = self { entries = own } else if value == nil { return }
            let key = Array(path.first!.utf8)
            if path.count == 1 {
                entries[key] = value
            } else if var inner = entries[key] ?? (value == nil ? nil : .map([:])) {
                inner.set(value, at: path.dropFirst())
                entries[key] = inner
            }
            self = .map(entries)
        }
    }

    @Test func `get, set and remove as nested dictionaries do`() {
        var generator = Generator(seed: 5)
        for _ in 0..<300 {
            var fields = MapValue()
            var oracle = Oracle(fields)
            for _ in 0..<40 {
                let path = generator.fieldPath()
                let value = generator.chance(3) ? nil : generator.value(depth: 1)
                fields[path] = value
                oracle.set(value.map { Oracle($0) }, at: path.segments[...])
                #expect(Oracle(fields) == oracle, "after \(path) = \(String(describing: value))")
                let other = generator.fieldPath()
                #expect(fields[other].map { Oracle($0) } == oracle.get(other.segments[...]))
            }
            let keys = fields.map { Array($0.key.utf8) }
            #expect(zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
        }
    }

    @Test func `many entries in any order are sorted, the last of a key winning`() {
        var generator = Generator(seed: 8)
        for count in [0, 1, 2, 3, 10, 100, 1_000] {
            for range in [1, 3, 50, 100_000] {
                let pairs = (0..<count).map { index in
                    (String(generator.number(0...range)), Value.integer(Int64(index)))
                }
                var oracle: [[UInt8]: Value] = [:]
                for (key, value) in pairs { oracle[Array(key.utf8)] = value }
                let sorted = oracle.sorted { $0.key.lexicographicallyPrecedes($1.key) }
                let fields = MapValue(pairs)
                #expect(fields.map { Array($0.key.utf8) } == sorted.map(\.key))
                #expect(fields.map(\.value) == sorted.map(\.value))
            }
        }
    }

    @Test func `the last of equal keys counts, however they come`() {
        var generator = Generator(seed: 6)
        for _ in 0..<500 {
            let pairs = generator.list(upTo: 12) { ($0.text(), Value.integer($0.integer())) }
            var inserted = MapValue()
            for (key, value) in pairs { inserted[key] = value }
            #expect(MapValue(pairs) == inserted)
        }
    }

    @Test func `setting below what is no map replaces it`() throws {
        var fields: MapValue = ["a": .integer(1)]
        fields[try FieldPath(encoded: "a.b.c")] = .integer(2)
        #expect(fields == ["a": .map(["b": .map(["c": .integer(2)])])])
    }

    @Test func `removing leaves the map it empties, and makes none`() throws {
        var fields: MapValue = ["a": .map(["b": .integer(1)]), "n": .integer(1)]
        fields[try FieldPath(encoded: "a.b")] = nil
        fields[try FieldPath(encoded: "x.y")] = nil
        fields[try FieldPath(encoded: "n.y")] = nil
        #expect(fields == ["a": .map([:]), "n": .integer(1)])
    }

    @Test func `a copy keeps what it had`() throws {
        let original: MapValue = ["a": .map(["b": .integer(1)])]
        var copy = original
        copy[try FieldPath(encoded: "a.b")] = .integer(2)
        #expect(original[try FieldPath(encoded: "a.b")] == .integer(1))
    }
}
