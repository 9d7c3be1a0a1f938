/// Which pages of an encrypted log lie together in one box, as this process wrote or read them since the log
/// was begun, and how their boxes end: that tells a box that the disk has put back as it once was.
///
/// 16 bytes for each page that the log has had.
struct FrameGroups {
    struct Group: Equatable {
        /// From 0.
        let start: Int
        let count: Int
        /// Of ``SealedFrames/mark(_:)``.
        let mark: UInt64

        var places: Range<Int> { start..<start + count }
    }

    /// Of a page: how far it is behind its group's first.
    private struct Entry {
        var offset: UInt8 = 0
        /// 0 where nothing is known.
        var count: UInt8 = 0
        var mark: UInt64 = 0
    }

    /// More are given back when the log begins anew.
    private static let keptAtMost = 65_536

    /// By their places in the log.
    private var entries: [Entry] = []

    func group(of place: Int) -> Group? {
        guard place < entries.count, entries[place].count > 0 else { return nil }
        let entry = entries[place]
        return Group(
            start: place - Int(entry.offset), count: Int(entry.count), mark: entry.mark)
    }

    /// What lay at the places of `group` is gone, and with it the other pages of its boxes.
    mutating func set(_ group: Group) {
        while entries.count < group.places.upperBound { entries.append(Entry()) }
        forget(group.places)
        for place in group.places {
            entries[place] = Entry(
                offset: UInt8(place - group.start), count: UInt8(group.count), mark: group.mark)
        }
    }

    /// Of boxes with a page at one of these places.
    mutating func forget(_ places: Range<Int>) {
        for place in places {
            guard let old = group(of: place) else { continue }
            for place in old.places { entries[place] = Entry() }
        }
    }

    mutating func forgetAll() {
        if entries.count > Self.keptAtMost {
            entries = []
        } else {
            entries.removeAll(keepingCapacity: true)
        }
    }
}
