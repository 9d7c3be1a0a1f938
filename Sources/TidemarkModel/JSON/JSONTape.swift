/// A checked JSON text and where its values begin.
final class JSONTape: Sendable {
    let text: [UInt8]
    let entries: Entries

    init(_ text: [UInt8], maxDepth: Int, maxValues: Int) throws(JSONFault) {
        self.text = text
        // `withUnsafeBufferPointer` loses the type of what is thrown.
        let result = text.withUnsafeBufferPointer { text in
            var scanner = JSONScanner(text, maxDepth: maxDepth, maxValues: maxValues)
            return Result { () throws(JSONFault) in try scanner.scan() }
        }
        entries = try result.get()
    }

    /// For each value and each name, in the order of the text: where it begins, and which entry
    /// comes after all that is in it. A member's name comes right before its value.
    struct Entries: Sendable {
        /// Full but for the last one. A single array would be copied as it grows, and at that
        /// moment cost three times as much.
        private var chunks: [[UInt64]] = [[]]
        private(set) var count = 0

        private static let bits = 14
        private static let mask = (1 << bits) - 1

        mutating func append(_ start: UInt32) {
            if chunks[chunks.count - 1].count == 1 << Self.bits {
                chunks.append([])
                chunks[chunks.count - 1].reserveCapacity(1 << Self.bits)
            }
            count += 1
            chunks[chunks.count - 1].append(UInt64(start) << 32 | UInt64(count))
        }

        /// Says that all entries after `entry` are in it.
        mutating func close(_ entry: Int) {
            let start = UInt64(start(of: entry))
            chunks[entry >> Self.bits][entry & Self.mask] = start << 32 | UInt64(count)
        }

        func start(of entry: Int) -> Int { Int(self[entry] >> 32) }
        func next(after entry: Int) -> Int { Int(self[entry] & 0xFFFF_FFFF) }

        private subscript(entry: Int) -> UInt64 { chunks[entry >> Self.bits][entry & Self.mask] }
    }
}
