/// The grouping of an encrypted log's pages into boxes, as this process wrote or read them since
/// the log began, with a mark of each box. The mark reveals an old version of a box that the disk
/// has restored.
///
/// Uses 16 bytes for each page written to the log.
struct FrameGroups {
    struct Group: Equatable {
        /// The position of the first page, from 0.
        let start: Int
        let count: Int
        /// The mark of the box, from ``SealedFrames/mark(_:)``.
        let mark: UInt64

        var places: Range<Int> { start..<start + count }
    }

    /// The group of a page. `offset` is the page's position after the first page of its group.
    private struct Entry {
        var offset: UInt8 = 0
        /// The number of pages in the group; 0 if unknown.
        var count: UInt8 = 0
        var mark: UInt64 = 0
    }

    /// The maximum capacity that is kept when the log begins again.
    private static let keptAtMost = 65_536

    /// The entries by position in the log.
    private var entries: [Entry] = []

    func group(of place: Int) -> Group? {
        guard place < entries.count, entries[place].count > 0 else { return nil }
        let entry = entries[place]
        return Group(
            start: place - Int(entry.offset), count: Int(entry.count), mark: entry.mark)
    }

    /// Records a group. Removes all groups that overlap it.
    mutating func set(_ group: Group) {
        while entries.count < group.places.upperBound { entries.append(Entry()) }
        forget(group.places)
        for place in group.places {
            entries[place] = Entry(
                offset: UInt8(place - group.start), count: UInt8(group.count), mark: group.mark)
        }
    }

    /// Removes the groups with a page at one of these positions.
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
