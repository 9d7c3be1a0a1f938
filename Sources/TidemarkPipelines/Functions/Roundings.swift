import TidemarkModel

/// Functions that round numbers.
enum Roundings {
    static let functions: [Function] = [
        .ofOne("abs") { value throws(Fault) in
            switch try Number(value, in: "abs") {
            case .integer(.min): throw Fault("abs: integer overflow.")
            case .integer(let number): .value(.integer(abs(number)))
            case .double(let number): .value(.double(number.magnitude))
            }
        },
        whole("ceil", .up), whole("floor", .down),
        places("round", .toNearestOrAwayFromZero), places("trunc", .towardZero),
    ]

    private static func whole(_ name: String, _ rule: FloatingPointRoundingRule) -> Function {
        .ofOne(name) { value throws(Fault) in
            switch try Number(value, in: name) {
            case .integer: .value(value)
            case .double(let number): .value(.double(number.rounded(rule)))
            }
        }
    }

    /// Rounds to a number of decimal places. A negative number rounds left of the point.
    private static func places(_ name: String, _ rule: FloatingPointRoundingRule) -> Function {
        .ofValues(name, takes: 1...2) { values, _ throws(Fault) in
            let places = values.count == 2 ? try values[1].integer(in: name) : 0
            switch try Number(values[0], in: name) {
            case .integer(let number):
                guard let result = rounded(number, places: Int(clamping: places), rule: rule) else {
                    throw Fault("\(name): integer overflow.")
                }
                return .value(.integer(result))
            case .double(let number):
                let result = rounded(number, places: Int(clamping: places), rule: rule)
                if result.isInfinite, number.isFinite { throw Fault("\(name): overflow.") }
                return .value(.double(result))
            }
        }
    }

    /// Returns nil if the result overflows.
    private static func rounded(
        _ number: Int64, places: Int, rule: FloatingPointRoundingRule
    ) -> Int64? {
        if places >= 0 { return number }
        // 10^19 exceeds every integer, and half of it exceeds none of those next to the limit.
        if places < -19 { return 0 }
        let unit = (0..<(-places)).reduce(Int128(1)) { product, _ in product * 10 }
        let (quotient, remainder) = Int128(number).quotientAndRemainder(dividingBy: unit)
        let isAway = rule == .toNearestOrAwayFromZero && remainder.magnitude * 2 >= unit.magnitude
        let step: Int128 = isAway ? (number < 0 ? -1 : 1) : 0
        return Int64(exactly: (quotient + step) * unit)
    }

    private static func rounded(
        _ number: Double, places: Int, rule: FloatingPointRoundingRule
    ) -> Double {
        if !number.isFinite || places > 340 { return number }
        if places < -308 { return 0 }
        if places == 0 { return number.rounded(rule) }
        if places < 0 {
            let unit = RealMath.powerOfTen(-places)
            return (number / unit).rounded(rule) * unit
        }
        let scaled = number * RealMath.powerOfTen(places)
        // A number this large has no digits behind the places.
        guard scaled.isFinite, scaled.magnitude < 0x1p53 else { return number }
        return scaled.rounded(rule) / RealMath.powerOfTen(places)
    }
}
