import Foundation

/// A position between keys: before all keys that begin with `prefix`, or after all of them.
struct Cut: Hashable {
    var prefix: [UInt8]
    var isAfter: Bool

    static func before(_ prefix: [UInt8]) -> Cut { Cut(prefix: prefix, isAfter: false) }
    static func after(_ prefix: [UInt8]) -> Cut { Cut(prefix: prefix, isAfter: true) }

    /// The least key after the cut.
    var position: [UInt8] { isAfter ? Self.successor(of: prefix) : prefix }

    /// The same cut among inverted keys.
    var inverted: Cut { Cut(prefix: prefix.map { ~$0 }, isAfter: !isAfter) }

    func prefixed(by head: [UInt8]) -> Cut { Cut(prefix: head + prefix, isAfter: isAfter) }

    /// The bound above every key, because no key begins with this byte.
    static let top: [UInt8] = [0xFF]

    /// Returns the least key above all keys that begin with `prefix`.
    private static func successor(of prefix: [UInt8]) -> [UInt8] {
        var result = prefix
        while let last = result.popLast() {
            if last < 0xFF {
                result.append(last + 1)
                return result
            }
        }
        return top
    }
}

/// The keys from `lower` up to but excluding `upper`.
struct KeyRange: Hashable {
    var lower: [UInt8]
    var upper: [UInt8]

    static let all = KeyRange(lower: [], upper: Cut.top)
    static let none = KeyRange(lower: [], upper: [])

    init(lower: [UInt8], upper: [UInt8]) {
        self.lower = lower
        self.upper = upper
    }

    init(from lower: Cut, to upper: Cut) {
        self.init(lower: lower.position, upper: upper.position)
    }

    /// Makes the range of all keys that begin with `prefix`.
    init(prefix: [UInt8]) { self.init(from: .before(prefix), to: .after(prefix)) }

    var isEmpty: Bool { !Self.precedes(lower, upper) }

    func contains(_ key: [UInt8]) -> Bool {
        !Self.precedes(key, lower) && Self.precedes(key, upper)
    }

    mutating func raise(to cut: Cut) {
        let position = cut.position
        if Self.precedes(lower, position) { lower = position }
    }

    mutating func drop(to cut: Cut) {
        let position = cut.position
        if Self.precedes(position, upper) { upper = position }
    }

    static func precedes(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        a.withUnsafeBytes { a in
            b.withUnsafeBytes { b in
                let common = min(a.count, b.count)
                // An empty array may lack an address, but nothing is compared then.
                let order = common == 0 ? 0 : memcmp(a.baseAddress!, b.baseAddress!, common)
                return order != 0 ? order < 0 : a.count < b.count
            }
        }
    }
}

/// The bounds of a range at a fixed address. A plan runs repeatedly, and SQLite would otherwise
/// copy the bounds each time.
final class HeldRange {
    let lower: UnsafeRawBufferPointer
    let upper: UnsafeRawBufferPointer
    private let memory: UnsafeMutableRawBufferPointer

    init(_ range: KeyRange) {
        let split = range.lower.count
        memory = .allocate(byteCount: split + range.upper.count, alignment: 1)
        memory.copyBytes(from: range.lower)
        UnsafeMutableRawBufferPointer(rebasing: memory[split...]).copyBytes(from: range.upper)
        lower = UnsafeRawBufferPointer(rebasing: memory[..<split])
        upper = UnsafeRawBufferPointer(rebasing: memory[split...])
    }

    deinit { memory.deallocate() }
}
