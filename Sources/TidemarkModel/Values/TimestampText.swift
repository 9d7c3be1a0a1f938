extension Timestamp {
    /// The time in RFC 3339, in UTC, for example `2017-04-22T00:26:51.000001Z`. The fraction has 0,
    /// 3, 6 or 9 digits, as in protobuf's JSON.
    package var rfc3339: String {
        // The seconds need 64 bits, also where `Int` has 32; the days fit into 32.
        let day = seconds.dividedDown(by: 86_400)
        let time = Int(seconds - day * 86_400)
        let date = CivilDate(days: Int(day))
        var (fraction, width) = (Int(nanoseconds), 9)
        while width > 0, fraction % 1_000 == 0 { (fraction, width) = (fraction / 1_000, width - 3) }
        return String(unsafeUninitializedCapacity: 30) { buffer in
            var pen = DigitPen(buffer)
            pen.write(date.year, width: 4, mark: "-")
            pen.write(date.month, width: 2, mark: "-")
            pen.write(date.day, width: 2, mark: "T")
            pen.write(time / 3_600, width: 2, mark: ":")
            pen.write(time / 60 % 60, width: 2, mark: ":")
            pen.write(time % 60, width: 2, mark: width == 0 ? "Z" : ".")
            if width > 0 { pen.write(fraction, width: width, mark: "Z") }
            return pen.count
        }
    }

    /// Parses RFC 3339 with up to nine digits for the fraction of a second, and `Z` or an offset.
    ///
    /// - Parameter text: The text. The result is nil for any other form, for a day that does not
    ///   exist, and for a time outside the years 1 to 9999.
    package init?(rfc3339 text: String) {
        var scan = DigitScan(text)
        guard let year = scan.number(4), scan.take("-"), let month = scan.number(2),
            scan.take("-"), let day = scan.number(2), scan.take("T") || scan.take("t"),
            let hour = scan.number(2), scan.take(":"), let minute = scan.number(2),
            scan.take(":"), let second = scan.number(2),
            let date = CivilDate(checking: year, month, day), hour < 24, minute < 60,
            second < 60
        else { return nil }
        var nanoseconds = 0
        if scan.take(".") {
            guard let fraction = scan.fraction() else { return nil }
            nanoseconds = fraction
        }
        guard let offset = scan.offset(), scan.isAtEnd else { return nil }
        let ofDay = hour * 3_600 + minute * 60 + second - offset
        let seconds = Int64(date.days) * 86_400 + Int64(ofDay)
        guard Self.isValid(seconds: seconds, nanoseconds: Int32(nanoseconds)) else {
            return nil
        }
        self.init(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }
}

/// Writes numbers with leading zeros, each followed by a mark.
private struct DigitPen {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    init(_ buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

    mutating func write(_ number: Int, width: Int, mark: Unicode.Scalar) {
        precondition(count + width < buffer.count)
        var rest = number
        for index in (count..<count + width).reversed() {
            buffer[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        buffer[count + width] = UInt8(ascii: mark)
        count += width + 1
    }
}

/// Reads digits and marks from the start of a text.
private struct DigitScan {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = Substring(text).utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ mark: Character) -> Bool {
        guard let byte = mark.asciiValue, rest.first == byte else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Reads a number of exactly `count` digits.
    mutating func number(_ count: Int) -> Int? {
        var number: Int = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// Reads 1 to 9 digits of a fraction of a second, as nanoseconds.
    mutating func fraction() -> Int? {
        var number: Int = 0
        var count = 0
        while let digit = digit() {
            count += 1
            if count > 9 { return nil }
            number = number * 10 + digit
        }
        if count == 0 { return nil }
        return (count..<9).reduce(number) { value, _ in value * 10 }
    }

    /// Reads `Z` or an offset like `+hh:mm`, as seconds east of UTC.
    mutating func offset() -> Int? {
        if take("Z") || take("z") { return 0 }
        let isWest = rest.first == UInt8(ascii: "-")
        guard take("+") || take("-"), let hours = number(2), take(":"),
            let minutes = number(2), hours < 24, minutes < 60
        else { return nil }
        let seconds = hours * 3_600 + minutes * 60
        return isWest ? -seconds : seconds
    }

    private mutating func digit() -> Int? {
        guard let byte = rest.first, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
            return nil
        }
        rest = rest.dropFirst()
        return Int(byte - UInt8(ascii: "0"))
    }
}
