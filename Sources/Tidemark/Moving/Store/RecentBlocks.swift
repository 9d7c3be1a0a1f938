/// The blocks of tables that were read last: keys that are looked up one after the other often lie
/// in the same blocks.
struct RecentBlocks {
    /// The maximum number of blocks.
    private static let most = 16
    /// The maximum size of the values of a block, in bytes. Larger blocks hold one document each.
    private static let largest = 32 << 10

    private struct Block {
        var table: UInt64
        var number: Int
        var entries: [StoreTable.Entry]
    }

    /// The blocks, from the one that was read first.
    private var blocks: [Block] = []

    func entries(ofTable table: UInt64, block: Int) -> [StoreTable.Entry]? {
        blocks.first { $0.table == table && $0.number == block }?.entries
    }

    mutating func keep(_ entries: [StoreTable.Entry], ofTable table: UInt64, block: Int) {
        if entries.reduce(0, { $0 + ($1.value?.count ?? 0) }) > Self.largest { return }
        if blocks.count == Self.most { blocks.removeFirst() }
        blocks.append(Block(table: table, number: block, entries: entries))
    }
}
