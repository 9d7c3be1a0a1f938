import TidemarkModel

/// Functions that take elements of an array.
enum ArrayElements {
    static let functions: [Function] = [
        // `offset` is an older name.
        .ofValues("array_get", takes: 2...2) { values, _ throws(Fault) in
            try element("array_get", values)
        },
        .ofValues("offset", takes: 2...2) { values, _ throws(Fault) in try element("offset", values)
        },
        .ofOne("array_first") { value throws(Fault) in
            try value.array(in: "array_first").first.map(Outcome.value) ?? .absent
        },
        .ofOne("array_last") { value throws(Fault) in
            try value.array(in: "array_last").last.map(Outcome.value) ?? .absent
        },
        .ofValues("array_first_n", takes: 2...2) { values, _ throws(Fault) in
            let elements = try values[0].array(in: "array_first_n")
            let count = try values[1].count(of: "the count", in: "array_first_n")
            return .value(.array(Array(elements.prefix(count))))
        },
        .ofValues("array_last_n", takes: 2...2) { values, _ throws(Fault) in
            let elements = try values[0].array(in: "array_last_n")
            let count = try values[1].count(of: "the count", in: "array_last_n")
            return .value(.array(Array(elements.suffix(count))))
        },
        .ofValues("array_slice", takes: 2...3) { values, _ throws(Fault) in
            let elements = try values[0].array(in: "array_slice")
            let position = try values[1].integer(in: "array_slice")
            let length = values.count == 3 ? try values[2].integer(in: "array_slice") : .max
            if length < 0 { throw Fault("array_slice: length must be non-negative") }
            let range = StringParts.clamped(position, length, count: elements.count)
            return .value(.array(Array(elements[range])))
        },
    ]

    /// Returns absent for an index outside of the array. A negative index counts from the end.
    private static func element(_ name: String, _ values: [Value]) throws(Fault) -> Outcome {
        let elements = try values[0].array(in: name)
        let index = Int(clamping: try values[1].integer(in: name))
        let place = index >= 0 ? index : elements.count + max(index, -elements.count - 1)
        return elements.indices.contains(place) ? .value(elements[place]) : .absent
    }
}
