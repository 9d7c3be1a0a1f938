/// The order of a store's keys, which is that of their bytes. These functions exist for whole
/// arrays alone, so that a comparison calls nothing generic: a cache has a million of them.
extension [UInt8] {
    func compared(to other: [UInt8]) -> Comparison {
        withUnsafeBufferPointer { left in
            other.withUnsafeBufferPointer { right in Comparison.bytes(left, right) }
        }
    }

    func isBefore(_ other: [UInt8]) -> Bool { compared(to: other) == .ascending }
}
