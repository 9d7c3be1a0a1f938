/// Memory for consecutive pages that are read or written with one call.
struct PageMemory {
    /// The maximum number of pages: 124 KB, because SQLite's file layer takes less than 128 KB per
    /// call.
    static let most = 31

    private let bytes = UnsafeMutableRawBufferPointer.allocate(
        byteCount: most * SealedPage.size, alignment: 16)

    func deallocate() { bytes.deallocate() }

    subscript(place: Int) -> UnsafeMutableRawBufferPointer { self[place..<place + 1] }

    subscript(places: Range<Int>) -> UnsafeMutableRawBufferPointer {
        let (start, end) = (
            places.lowerBound * SealedPage.size, places.upperBound * SealedPage.size
        )
        return UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end])
    }
}
