import TidemarkModel

/// The figures of blocks of adjacent entries, for one scope of an index, or for one collection by
/// name.
final class FigureBlocks {
    enum Source: Equatable {
        case entries(index: Int64, scope: Int64)
        case names(collection: Int64)
    }

    let source: Source
    let fields: [FieldPath]
    /// The least key of each block. The first block begins before all keys.
    private var starts: [[UInt8]] = [[]]
    private var blocks: [Figures]
    /// The number of keys in each block, including documents without a summed field.
    private var sizes: [Int] = [0]
    private var size: Int
    private let most: Int
    /// The key up to which the blocks are filled; nil if they are complete.
    private(set) var through: [UInt8]? = []
    /// The greatest key. A new key above it can begin a block.
    private var greatest: [UInt8] = []
    /// True if a block has grown so large that the blocks should be built again.
    private(set) var isUneven = false

    /// The initial number of keys in a block, which grows if there would be too many blocks.
    private static let leastSize = 128
    private static let mostBlocks = 4_096
    /// The factor by which a block may grow.
    private static let mostGrowth = 8

    /// - Parameters:
    ///   - size: The initial number of keys in a block.
    ///   - most: The maximum number of blocks.
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

    /// Adds the next of the keys that are not filled yet.
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

    /// Merges each pair of blocks into one.
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
            // Appended keys, such as those of new messages, begin new blocks.
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

    /// Returns the index of the block that contains a key.
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
    /// Returns the figures of the whole blocks inside a range, and the remaining ranges at its
    /// ends.
    func figures(of range: KeyRange) -> (whole: Figures, rest: [KeyRange]) {
        precondition(isReady)
        var whole = Figures(of: fields)
        if range.isEmpty { return (whole, []) }
        let first = block(of: range.lower)
        let last = range.upper == Cut.top ? blocks.count : block(of: range.upper)
        // The first block is complete if the range starts at its first key.
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
