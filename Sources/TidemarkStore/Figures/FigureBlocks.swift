import TidemarkModel

/// The figures of one index in one scope, or of one collection by name: of blocks of neighbours.
final class FigureBlocks {
    enum Source: Equatable {
        case entries(index: Int64, scope: Int64)
        case names(collection: Int64)
    }

    let source: Source
    let fields: [FieldPath]
    /// The least key of each block; the first one begins before all keys.
    private var starts: [[UInt8]] = [[]]
    private var blocks: [Figures]
    /// How many keys each has, those too whose documents lack a summed field.
    private var sizes: [Int] = [0]
    private var size: Int
    private let most: Int
    /// What it was filled through; nil when nothing is missing.
    private(set) var through: [UInt8]? = []
    /// No key is above it: new ones that are can begin a block.
    private var greatest: [UInt8] = []
    /// Whether a block has become so large that it is better to make all anew.
    private(set) var isUneven = false

    /// Of a block; more where there would be too many blocks.
    private static let leastSize = 128
    private static let mostBlocks = 4_096
    /// How many times its size a block may become.
    private static let mostGrowth = 8

    /// - Parameters:
    ///   - size: How many keys a block begins with.
    ///   - most: How many blocks there are at most.
    init(
        _ source: Source, _ fields: [FieldPath], size: Int = leastSize, most: Int = mostBlocks
    ) {
        self.source = source
        self.fields = fields
        self.size = size
        self.most = most
        blocks = [Figures(of: fields)]
    }

    var isReady: Bool { through == nil }
    var count: Int { blocks.count }

    func haveFilled(through key: [UInt8]) { through = key }

    func haveFilledAll() { through = nil }

    /// Adds the next key of those that are still missing.
    func append(_ key: UnsafeRawBufferPointer, _ row: FieldsInPlace?) {
        let last = blocks.count - 1
        if sizes[last] >= size { begin(Array(key)) }
        greatest.removeAll(keepingCapacity: true)
        greatest.append(contentsOf: key)
        count(blocks.count - 1, row)
    }

    private func count(_ block: Int, _ row: FieldsInPlace?) {
        sizes[block] += 1
        if let row { blocks[block].add(row) } else { blocks[block].addRows(1) }
    }

    private func begin(_ key: [UInt8]) {
        starts.append(key)
        blocks.append(Figures(of: fields))
        sizes.append(0)
        if blocks.count > most { halve() }
    }

    /// Makes one block of every two.
    private func halve() {
        size *= 2
        var (starts, blocks, sizes): ([[UInt8]], [Figures], [Int]) = ([], [], [])
        for index in stride(from: 0, to: self.blocks.count, by: 2) {
            starts.append(self.starts[index])
            var figures = self.blocks[index]
            var count = self.sizes[index]
            if index + 1 < self.blocks.count {
                figures += self.blocks[index + 1]
                count += self.sizes[index + 1]
            }
            blocks.append(figures)
            sizes.append(count)
        }
        (self.starts, self.blocks, self.sizes) = (starts, blocks, sizes)
    }
}

// MARK: - Changes

extension FigureBlocks {
    func add(_ key: [UInt8], _ row: EncodedFields) {
        guard hasFilled(key) else { return }
        var block = block(of: key)
        if isReady, KeyRange.precedes(greatest, key) {
            greatest = key
            // What is appended, as new messages are, makes blocks of its own.
            if sizes[block] >= size {
                begin(key)
                block = blocks.count - 1
            }
        }
        sizes[block] += 1
        blocks[block].add(row)
        if sizes[block] > Self.mostGrowth * size { isUneven = true }
    }

    func remove(_ key: [UInt8], _ row: EncodedFields) {
        guard hasFilled(key) else { return }
        let block = block(of: key)
        sizes[block] -= 1
        blocks[block].remove(row)
    }

    private func hasFilled(_ key: [UInt8]) -> Bool {
        through.map { !KeyRange.precedes($0, key) } ?? true
    }

    /// The block that a key lies in.
    private func block(of key: [UInt8]) -> Int {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if KeyRange.precedes(key, starts[middle]) { high = middle } else { low = middle + 1 }
        }
        return low - 1
    }
}

// MARK: - Ranges

extension FigureBlocks {
    /// What of a range is made of whole blocks, and what is left of it at its ends.
    func figures(of range: KeyRange) -> (whole: Figures, rest: [KeyRange]) {
        precondition(isReady)
        var whole = Figures(of: fields)
        if range.isEmpty { return (whole, []) }
        let first = block(of: range.lower)
        let last = range.upper == Cut.top ? blocks.count : block(of: range.upper)
        // The block in which it begins is whole where it begins with it.
        let start = range.lower == starts[first] ? first : first + 1
        guard start <= last, start < blocks.count else { return (whole, [range]) }
        for block in start..<last { whole += blocks[block] }
        var rest: [KeyRange] = []
        if start > first { rest.append(KeyRange(lower: range.lower, upper: starts[start])) }
        if last < blocks.count {
            rest.append(KeyRange(lower: starts[last], upper: range.upper))
        }
        return (whole, rest.filter { !$0.isEmpty })
    }
}
