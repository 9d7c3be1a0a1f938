/// A file as a ``LossyDisk`` has it.
final class DiskFile {
    enum Change {
        case write(Int, [UInt8])
        case truncate(Int)
    }

    /// What a loss of power leaves in any case.
    var synced: [UInt8]
    private var changes: [Change] = []

    init(_ bytes: [UInt8]) { synced = bytes }

    func note(_ change: Change) { changes.append(change) }

    func forgetChanges() { changes = [] }

    /// With all changes.
    var written: [UInt8] {
        var bytes = synced
        for change in changes { bytes.apply(change) }
        return bytes
    }

    /// - Parameter last: How many of the last changes wait on.
    func sync(but last: Int) {
        for change in changes.dropLast(last) { synced.apply(change) }
        changes = Array(changes.suffix(last))
    }

    /// Makes what is found after a loss what is synced.
    func loseUnsynced(_ fate: Fate, _ dice: inout Dice) {
        let (kept, torn) = fate.keeps(changes.count, &dice)
        for (place, change) in changes.enumerated() {
            if place == torn {
                tear(change, &dice)
            } else if kept(place, &dice) {
                synced.apply(change)
            } else if fate.tearsSectors {
                keepSectors(of: change, &dice)
            }
        }
        changes = []
    }

    /// Of a write, its beginning.
    private func tear(_ change: Change, _ dice: inout Dice) {
        guard case .write(let offset, let bytes) = change else { return }
        synced.apply(.write(offset, Array(bytes.prefix(dice.roll(bytes.count + 1)))))
    }

    private static let sector = 512

    /// Of a write, any of its sectors, in any order.
    private func keepSectors(of change: Change, _ dice: inout Dice) {
        guard case .write(let offset, let bytes) = change else { return }
        var start = 0
        while start < bytes.count {
            // Sectors of the file, of which the write may have a part.
            let end = min(bytes.count, start + Self.sector - (offset + start) % Self.sector)
            if dice.chance(50) {
                synced.apply(.write(offset + start, Array(bytes[start..<end])))
            }
            start = end
        }
    }
}

extension [UInt8] {
    fileprivate mutating func apply(_ change: DiskFile.Change) {
        switch change {
        case .write(let offset, let bytes):
            if count < offset + bytes.count {
                append(contentsOf: repeatElement(0, count: offset + bytes.count - count))
            }
            withUnsafeMutableBytes { old in
                let place = UnsafeMutableRawBufferPointer(rebasing: old[offset...])
                bytes.withUnsafeBytes { place.copyMemory(from: $0) }
            }
        case .truncate(let size): if count > size { removeSubrange(size...) }
        }
    }
}

/// How a loss of power treats what was not synced.
struct Fate {
    private enum Kind: CaseIterable {
        /// The cases that most tests would forget: all is lost, all is there.
        case nothing, everything
        /// What was written first, and a part of the next.
        case beginning
        /// Any of it.
        case some
        /// Any sectors of it.
        case sectors
    }

    private let kind: Kind
    /// Of files that were made or deleted since the folder was synced; nil for any.
    let keepsNames: Bool?

    init(_ dice: inout Dice) {
        kind = dice.pick(Kind.allCases)
        switch kind {
        case .nothing: keepsNames = false
        case .everything: keepsNames = true
        case .beginning, .some, .sectors: keepsNames = nil
        }
    }

    var tearsSectors: Bool { kind == .sectors }

    /// Which of a number of changes are there as a whole, and which one in part.
    func keeps(
        _ count: Int, _ dice: inout Dice
    ) -> (kept: (Int, inout Dice) -> Bool, torn: Int?) {
        switch kind {
        case .nothing: return ({ _, _ in false }, nil)
        case .everything: return ({ _, _ in true }, nil)
        case .beginning:
            let end = dice.roll(count + 1)
            return ({ place, _ in place < end }, end)
        case .some: return ({ _, dice in dice.chance(50) }, nil)
        case .sectors: return ({ _, dice in dice.chance(30) }, nil)
        }
    }
}
