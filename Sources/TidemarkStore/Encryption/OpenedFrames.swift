/// Headers and pages of an encrypted log as SQLite has them, of the boxes that were written or read last: SQLite
/// reads one page at a time of several in one box, and moves into the file what it has just written.
///
/// At most ``most`` boxes, which is 400 KB: more of them are slower, since they do not stay in the processor's
/// cache, and save hardly a box from being opened twice, since a transaction writes its pages in order and they are
/// moved in order.
struct OpenedFrames {
    static let most = 12

    private struct Opened {
        let places: Range<Int>
        let bytes: UnsafeMutableRawBufferPointer
        var lastUse: UInt64
    }

    private var opened: [Opened] = []
    private var uses: UInt64 = 0

    /// Headers and pages of the box that begins at a place.
    mutating func frames(from start: Int) -> UnsafeMutableRawBufferPointer? {
        guard let found = opened.firstIndex(where: { $0.places.lowerBound == start }) else {
            return nil
        }
        uses += 1
        opened[found].lastUse = uses
        return opened[found].bytes
    }

    /// Keeps the headers and pages of a box.
    ///
    /// - Parameter bytes: Of ``room()``, and no longer the caller's.
    mutating func keep(_ places: Range<Int>, _ bytes: UnsafeMutableRawBufferPointer) {
        forget(places)
        uses += 1
        opened.append(Opened(places: places, bytes: bytes, lastUse: uses))
    }

    /// Room for as many headers and pages as a box may have: that of those that were not read for the longest
    /// time, where there are enough.
    mutating func room() -> UnsafeMutableRawBufferPointer {
        guard opened.count < Self.most else {
            let oldest = opened.indices.min { opened[$0].lastUse < opened[$1].lastUse }!
            return opened.remove(at: oldest).bytes
        }
        return .allocate(byteCount: SealedFrames.most * SealedFrames.size, alignment: 16)
    }

    /// Of boxes with a page at one of these places.
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
