/// A cache of decrypted headers and pages, of the boxes that were written or read last. SQLite
/// reads one page at a time of a box with several, and moves recently written pages into the file.
///
/// Holds at most ``most`` boxes, which is 400 KB. More boxes would be slower, because they would
/// not fit into the processor's cache, and would rarely avoid decrypting a box twice, because a
/// transaction writes its pages in order and they are moved in order.
struct OpenedFrames {
    static let most = 12

    private struct Opened {
        let places: Range<Int>
        let bytes: UnsafeMutableRawBufferPointer
        var lastUse: UInt64
    }

    private var opened: [Opened] = []
    private var uses: UInt64 = 0

    /// Returns the headers and pages of the box that begins at a position; nil if they are not
    /// cached.
    mutating func frames(from start: Int) -> UnsafeMutableRawBufferPointer? {
        guard let found = opened.firstIndex(where: { $0.places.lowerBound == start }) else {
            return nil
        }
        uses += 1
        opened[found].lastUse = uses
        return opened[found].bytes
    }

    /// Caches the headers and pages of a box.
    ///
    /// - Parameter bytes: Memory from ``room()``. The cache takes ownership.
    mutating func keep(_ places: Range<Int>, _ bytes: UnsafeMutableRawBufferPointer) {
        forget(places)
        uses += 1
        opened.append(Opened(places: places, bytes: bytes, lastUse: uses))
    }

    /// Returns memory for the headers and pages of one box: that of the least recently used box if
    /// the cache is full.
    mutating func room() -> UnsafeMutableRawBufferPointer {
        guard opened.count < Self.most else {
            let oldest = opened.indices.min { opened[$0].lastUse < opened[$1].lastUse }!
            return opened.remove(at: oldest).bytes
        }
        return .allocate(byteCount: SealedFrames.most * SealedFrames.size, alignment: 16)
    }

    /// Removes the boxes with a page at one of these positions.
    mutating func forget(_ places: Range<Int>) {
        opened.removeAll { opened in
            guard opened.places.overlaps(places) else { return false }
            opened.bytes.deallocate()
            return true
        }
    }

    mutating func forgetAll() {
        for opened in opened { opened.bytes.deallocate() }
        opened = []
    }
}
