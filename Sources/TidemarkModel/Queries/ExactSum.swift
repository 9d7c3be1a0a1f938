/// A sum from which values can be removed again. The sum is exact for any sequence of additions and
/// removals, so it never drifts. Its results equal ``AggregationState``'s, except that doubles are
/// rounded only once, at the end.
package struct ExactSum: Hashable, Sendable {
    /// The sum of the integers. An overflow would need 2^64 rows.
    private var integers: Int128 = 0
    /// The sum of the finite doubles; nil until the first one that is not zero.
    private var doubles: ExactDoubles?
    /// The number of doubles of any kind. NaNs and infinities have counts of their own, because a
    /// sum cannot subtract them.
    private var doubleCount = 0
    private var nanCount = 0
    private var infinityCounts = (above: 0, below: 0)
    private var integerCount = 0

    package init() {}

    package mutating func add(_ value: Value) { change(by: value, 1) }

    /// - Precondition: The value was added.
    package mutating func remove(_ value: Value) { change(by: value, -1) }

    private mutating func change(by value: Value, _ sign: Int) {
        switch value {
        case .integer(let value):
            integers += sign > 0 ? Int128(value) : -Int128(value)
            integerCount += sign
        case .double(let value):
            doubleCount += sign
            if value.isNaN {
                nanCount += sign
            } else if value == .infinity {
                infinityCounts.above += sign
            } else if value == -.infinity {
                infinityCounts.below += sign
            } else if value != 0 {
                if doubles == nil { doubles = ExactDoubles() }
                doubles!.add(sign > 0 ? value : -value)
            }
        default: return
        }
    }

    package static func += (sum: inout ExactSum, other: ExactSum) {
        sum.integers += other.integers
        sum.integerCount += other.integerCount
        sum.doubleCount += other.doubleCount
        sum.nanCount += other.nanCount
        sum.infinityCounts.above += other.infinityCounts.above
        sum.infinityCounts.below += other.infinityCounts.below
        guard let others = other.doubles else { return }
        if sum.doubles == nil { sum.doubles = others } else { sum.doubles!.add(others) }
    }

    package static func == (a: ExactSum, b: ExactSum) -> Bool {
        a.integers == b.integers && a.integerCount == b.integerCount
            && a.doubleCount == b.doubleCount && a.nanCount == b.nanCount
            && a.infinityCounts == b.infinityCounts && a.finite == b.finite
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(integers)
        hasher.combine(doubleCount)
    }

    private var finite: Double { doubles?.value ?? 0 }

    private var sumOfDoubles: Double {
        if nanCount > 0 || infinityCounts.above > 0 && infinityCounts.below > 0 { return .nan }
        if infinityCounts.above > 0 { return .infinity }
        return infinityCounts.below > 0 ? -.infinity : finite
    }

    /// The total: an integer if all values were integers and the *final* sum fits, otherwise a
    /// double.
    package var total: Value {
        if doubleCount == 0, let exact = Int64(exactly: integers) { return .integer(exact) }
        return .double(Double(integers) + sumOfDoubles)
    }

    package var average: Value {
        let count = integerCount + doubleCount
        return count == 0 ? .null : .double((Double(integers) + sumOfDoubles) / Double(count))
    }
}

/// A sum of finite doubles without any rounding: a fixed-point number in two's complement. The
/// range covers the smallest double and 2^63 times the largest.
struct ExactDoubles: Sendable {
    /// Every double is a multiple of the least double, 2^-1074, and below 2^1024: 2,098 bits, plus
    /// bits for carries and the sign. The lowest limb is first.
    private static let limbCount = 34
    private static let leastExponent = -1_074

    private var limbs = [UInt64](repeating: 0, count: limbCount)

    mutating func add(_ value: Double) {
        precondition(value.isFinite)
        let pattern = value.bitPattern
        let (exponent, fraction) = (Int(pattern >> 52 & 0x7FF), pattern & (1 << 52 - 1))
        let significand = exponent == 0 ? fraction : fraction | 1 << 52
        let shift = max(exponent, 1) - 1
        let (limb, bit) = (shift / 64, shift % 64)
        let low = significand << UInt64(bit)
        let high = bit == 0 ? 0 : significand >> UInt64(64 - bit)
        if value.sign == .plus {
            change(by: low, high, at: limb) { $0.addingReportingOverflow($1) }
        } else {
            change(by: low, high, at: limb) { $0.subtractingReportingOverflow($1) }
        }
    }

    /// Adds or subtracts two limbs, and propagates the carry as far as necessary.
    @inline(__always)
    private mutating func change(
        by low: UInt64, _ high: UInt64, at limb: Int,
        _ operation: (UInt64, UInt64) -> (partialValue: UInt64, overflow: Bool)
    ) {
        var carry = false
        for place in limb..<Self.limbCount {
            if place > limb + 1, !carry { return }
            let value = place == limb ? low : place == limb + 1 ? high : 0
            let (first, isOver) = operation(limbs[place], value)
            let (second, isMore) = operation(first, carry ? 1 : 0)
            limbs[place] = second
            carry = isOver || isMore
        }
    }

    mutating func add(_ other: ExactDoubles) {
        var carry: UInt64 = 0
        for limb in 0..<Self.limbCount {
            let (sum, first) = limbs[limb].addingReportingOverflow(other.limbs[limb])
            let (all, second) = sum.addingReportingOverflow(carry)
            limbs[limb] = all
            carry = first || second ? 1 : 0
        }
    }

    /// The nearest double. A tie rounds to even.
    var value: Double {
        guard limbs[Self.limbCount - 1] >> 63 == 1 else { return Self.rounded(limbs) }
        var magnitude = ExactDoubles()
        magnitude.limbs = limbs.map { ~$0 }
        magnitude.change(by: 1, 0, at: 0) { $0.addingReportingOverflow($1) }
        return -Self.rounded(magnitude.limbs)
    }

    private static func rounded(_ limbs: [UInt64]) -> Double {
        guard let top = limbs.lastIndex(where: { $0 != 0 }) else { return 0 }
        let highest = 64 * top + 63 - limbs[top].leadingZeroBitCount
        // Such a small number is the bit pattern of a double.
        if highest <= 52 { return Double(bitPattern: limbs[0]) }
        let lowest = highest - 52
        func bits(from start: Int, _ count: Int) -> UInt64 {
            let (limb, bit) = (start / 64, UInt64(start % 64))
            var found = limbs[limb] >> bit
            if bit > 0, limb + 1 < limbs.count { found |= limbs[limb + 1] << (64 - bit) }
            return found & (1 << UInt64(count) - 1)
        }
        var significand = bits(from: lowest, 53)
        if bits(from: lowest - 1, 1) == 1 {
            let (limb, bit) = ((lowest - 1) / 64, UInt64((lowest - 1) % 64))
            let isAbove =
                limbs[limb] & (1 << bit - 1) != 0 || limbs[..<limb].contains { $0 != 0 }
            if isAbove || significand & 1 == 1 { significand += 1 }
        }
        return Double(
            sign: .plus, exponent: lowest + leastExponent, significand: Double(significand))
    }
}
