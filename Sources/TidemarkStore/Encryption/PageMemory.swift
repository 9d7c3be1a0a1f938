/// Memory for as many pages as are read or written with one call, one behind the other.
struct PageMemory {
    /// 124 KB: SQLite's files take less than 128 KB at once.
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
