/// Memory for a number of pages, one behind the other.
struct PageMemory {
    private let bytes: UnsafeMutableRawBufferPointer

    init(count: Int) {
        bytes = .allocate(byteCount: count * SealedPage.size, alignment: 16)
    }

    func deallocate() { bytes.deallocate() }

    subscript(place: Int) -> UnsafeMutableRawBufferPointer { self[place..<place + 1] }

    subscript(places: Range<Int>) -> UnsafeMutableRawBufferPointer {
        let (start, end) = (
            places.lowerBound * SealedPage.size, places.upperBound * SealedPage.size
        )
        return UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end])
    }
}
