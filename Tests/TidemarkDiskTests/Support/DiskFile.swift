import Foundation

/// A file of a ``LossyDisk``.
final class DiskFile {
    enum Change {
        case write(Int, [UInt8])
        case truncate(Int)
    }

    /// The bytes that every loss of power keeps.
    var synced: [UInt8]
    private var changes: [Change] = []

    init(_ bytes: [UInt8]) { synced = bytes }

    func note(_ change: Change) { changes.append(change) }

    func forgetChanges() { changes = [] }

    /// The bytes with all changes.
    var written: [UInt8] {
        var bytes = synced
        for change in changes { bytes.apply(change) }
        return bytes
    }

    /// - Parameter last: The number of last changes that stay unsynced.
    func sync(but last: Int) {
        for change in changes.dropLast(last) { synced.apply(change) }
        changes = Array(changes.suffix(last))
    }

    /// Applies to `synced` the unsynced changes that survive a loss of power.
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

    /// Applies only the beginning of a write.
    private func tear(_ change: Change, _ dice: inout Dice) {
        guard case .write(let offset, let bytes) = change else { return }
        synced.apply(.write(offset, Array(bytes.prefix(dice.roll(bytes.count + 1)))))
    }

    private static let sector = 512

    /// Applies a random choice of the sectors of a write.
    private func keepSectors(of change: Change, _ dice: inout Dice) {
        guard case .write(let offset, let bytes) = change else { return }
        var start = 0
        while start < bytes.count {
            // The write may cover only a part of a sector of the file.
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
                append(contentsOf: [UInt8].zeros(offset + bytes.count - count))
            }
            withUnsafeMutableBytes { old in
                let place = UnsafeMutableRawBufferPointer(rebasing: old[offset...])
                bytes.withUnsafeBytes { place.copyMemory(from: $0) }
            }
        case .truncate(let size): if count > size { removeSubrange(size...) }
        }
    }

    /// Returns this number of zeros. Swift's own functions take a call for each byte in a debug
    /// build, which was half of the time of all histories as a sequence, and a tenth of those of
    /// disks as a repetition.
    private static func zeros(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { bytes, size in
            if let start = bytes.baseAddress { memset(start, 0, count) }
            size = count
        }
    }
}

/// Decides what a loss of power does with unsynced changes.
struct Fate {
    private enum Kind: CaseIterable {
        /// Every change is lost, or none is. Most tests would forget these cases.
        case nothing, everything
        /// The first changes survive, and a part of the next.
        case beginning
        /// Any of the changes survive.
        case some
        /// Any of the changes survive, and any sectors of the others.
        case sectors
    }

    private let kind: Kind
    /// True if files that were created or deleted since the last sync of the folder stay so. Nil
    /// decides for each file at random.
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

    /// Decides which of `count` changes survive as a whole, and which change survives in part.
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
