import TidemarkModel

/// A unit of time of a fixed length.
enum TimeUnit: String {
    case microsecond, millisecond, second, minute, hour, day

    var nanoseconds: Int128 {
        switch self {
        case .microsecond: 1_000
        case .millisecond: 1_000_000
        case .second: 1_000_000_000
        case .minute: 60_000_000_000
        case .hour: 3_600_000_000_000
        case .day: 86_400_000_000_000
        }
    }

    init(_ value: Value, in function: String) throws(Fault) {
        let name = try value.string(in: function)
        guard let unit = TimeUnit(rawValue: name) else {
            throw Fault("\(function): unknown unit \"\(name)\".")
        }
        self = unit
    }
}

extension Timestamp {
    /// The nanoseconds since 1970.
    var total: Int128 { Int128(seconds) * 1_000_000_000 + Int128(nanoseconds) }

    /// Makes a time of nanoseconds since 1970.
    ///
    /// - Throws: ``Fault`` if the time is not in years 1 to 9999.
    init(total: Int128, in function: String) throws(Fault) {
        let seconds = total.dividedDown(by: 1_000_000_000)
        let rest = Int32(total - seconds * 1_000_000_000)
        guard let seconds = Int64(exactly: seconds),
            Timestamp.isValid(seconds: seconds, nanoseconds: rest)
        else { throw Fault("\(function): the time is outside of the years 1 to 9999.") }
        self.init(seconds: seconds, nanoseconds: rest)
    }
}

/// Functions of times.
enum Times {
    static let functions: [Function] =
        [
            .lazily("current_timestamp", takes: 0...0) { _, scope in
                .value(.timestamp(scope.run.context.now))
            },
            shifting("timestamp_add", 1), shifting("timestamp_subtract", -1),
            shifting("timestamp_sub", -1),
            .ofValues("timestamp_diff", takes: 3...3) { values, _ throws(Fault) in
                let end = try values[0].timestamp(in: "timestamp_diff")
                let start = try values[1].timestamp(in: "timestamp_diff")
                let unit = try TimeUnit(values[2], in: "timestamp_diff")
                let difference = (end.total - start.total) / unit.nanoseconds
                return .value(.integer(Int64(clamping: difference)))
            },
        ]
        + [("micros", 1_000), ("millis", 1_000_000), ("seconds", 1_000_000_000)].flatMap {
            conversions($0.0, $0.1)
        }

    private static func shifting(_ name: String, _ sign: Int128) -> Function {
        .ofValues(name, takes: 3...3) { values, _ throws(Fault) in
            let time = try values[0].timestamp(in: name)
            let unit = try TimeUnit(values[1], in: name)
            let amount = Int128(try values[2].integer(in: name))
            let total = time.total + sign * amount * unit.nanoseconds
            return .value(.timestamp(try Timestamp(total: total, in: name)))
        }
    }

    /// Returns the functions from and to a number of units since 1970.
    private static func conversions(_ unit: String, _ nanoseconds: Int128) -> [Function] {
        let (from, to) = ("unix_\(unit)_to_timestamp", "timestamp_to_unix_\(unit)")
        return [
            .ofOne(from) { value throws(Fault) in
                let total = Int128(try value.integer(in: from)) * nanoseconds
                return .value(.timestamp(try Timestamp(total: total, in: from)))
            },
            .ofOne(to) { value throws(Fault) in
                let total = try value.timestamp(in: to).total.dividedDown(by: nanoseconds)
                return .value(.integer(Int64(total)))
            },
        ]
    }
}
