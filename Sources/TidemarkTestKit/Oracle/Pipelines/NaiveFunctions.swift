import TidemarkModel

/// Functions of the naive evaluator, whose arguments are all evaluated.
enum NaiveFunctions {
    static func call(_ name: String, _ arguments: [Naive]) -> Naive {
        if name == "is_error" { return .bool(arguments[0] == .failed) }
        if arguments.contains(.failed) { return .failed }
        switch name {
        case "equal": return .bool(equal(arguments[0], arguments[1]))
        case "not_equal": return .bool(!equal(arguments[0], arguments[1]))
        case "exists": return .bool(arguments[0] != .missing)
        case "is_absent": return .bool(arguments[0] == .missing)
        case "error": return .failed
        case "type":
            return arguments[0] == .missing
                ? .null : .some(.string(NaiveValues.typeName(arguments[0].orNull!)))
        case "cmp":
            return .int(NaiveValues.compare(arguments[0].orNull!, arguments[1].orNull!))
        case "equal_any", "not_equal_any", "array_contains":
            return membership(name, arguments)
        case "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal":
            return range(name, of: arguments[0].orNull!, and: arguments[1].orNull!)
        case "xor", "not": return truth(name, arguments)
        case "map_get", "map_set": return ofMap(name, arguments)
        case "maximum", "minimum": return extreme(name, arguments)
        default: break
        }
        if arguments.contains(where: \.isNothing) { return .null }
        if name == "document_id", case .some(.reference(let reference)) = arguments[0] {
            return .some(.string(reference.path.id))
        }
        let values = arguments.map { $0.orNull! }
        return numbers(name, values) ?? texts(name, values) ?? lists(name, values) ?? .failed
    }

    private static func equal(_ left: Naive, _ right: Naive) -> Bool {
        guard case .some(let a) = left, case .some(let b) = right else { return left == right }
        return NaiveValues.same(a, b)
    }

    private static func membership(_ name: String, _ arguments: [Naive]) -> Naive {
        let (list, wanted) =
            name == "array_contains"
            ? (arguments[0], arguments[1]) : (arguments[1], arguments[0])
        if list.isNothing { return .null }
        guard let elements = NaiveValues.list(list.orNull!) else { return .failed }
        var isThere = false
        if case .some(let value) = wanted {
            for element in elements where NaiveValues.same(element, value) { isThere = true }
        }
        return .bool(isThere == (name != "not_equal_any"))
    }

    private static func range(_ name: String, of left: Value, and right: Value) -> Naive {
        guard NaiveValues.place(left) == NaiveValues.place(right) else { return .bool(false) }
        let order = NaiveValues.compare(left, right)
        switch name {
        case "less_than": return .bool(order < 0)
        case "less_than_or_equal": return .bool(order <= 0)
        case "greater_than": return .bool(order > 0)
        default: return .bool(order >= 0)
        }
    }

    private static func ofMap(_ name: String, _ arguments: [Naive]) -> Naive {
        guard case .some(let value) = arguments[0], var map = NaiveValues.fields(value) else {
            return .missing
        }
        guard case .some(.string(let key)) = arguments[1] else {
            return name == "map_get" && arguments[1].isNothing ? .null : .failed
        }
        if name == "map_get" { return map[key].map(Naive.some) ?? .missing }
        map[key] = arguments[2] == .missing ? nil : arguments[2].orNull
        return .some(.map(map))
    }

    private static func extreme(_ name: String, _ arguments: [Naive]) -> Naive {
        var values = arguments.map { $0.orNull! }
        if values.count == 1 {
            if values[0] == .null { return .null }
            guard let elements = NaiveValues.list(values[0]) else { return .failed }
            values = elements
        }
        values = values.filter { $0 != .null }
        var best = values.first
        for value in values.dropFirst() {
            let order = NaiveValues.compare(value, best!)
            if name == "maximum" ? order > 0 : order < 0 { best = value }
        }
        return .some(best ?? .null)
    }

    private static func numbers(_ name: String, _ values: [Value]) -> Naive? {
        guard
            ["add", "subtract", "multiply", "divide", "mod", "abs", "floor", "ceil"].contains(name)
        else { return nil }
        let reals = values.compactMap(NaiveValues.number)
        guard reals.count == values.count else { return .failed }
        let wholes = values.compactMap(NaiveValues.whole)
        if wholes.count == values.count { return integers(name, wholes) }
        switch name {
        case "add": return .some(.double(reals.dropFirst().reduce(reals[0], +)))
        case "multiply": return .some(.double(reals.dropFirst().reduce(reals[0], *)))
        case "subtract": return .some(.double(reals[0] - reals[1]))
        case "divide": return .some(.double(reals[0] / reals[1]))
        case "mod": return .some(.double(reals[0].truncatingRemainder(dividingBy: reals[1])))
        case "abs": return .some(.double(abs(reals[0])))
        case "floor": return .some(.double(reals[0].rounded(.down)))
        default: return .some(.double(reals[0].rounded(.up)))
        }
    }

    /// The generator's numbers are small, so nothing overflows here.
    private static func integers(_ name: String, _ values: [Int]) -> Naive {
        switch name {
        case "add": return .int(values.reduce(0, +))
        case "multiply": return .int(values.reduce(1, *))
        case "subtract": return .int(values[0] - values[1])
        case "divide": return values[1] == 0 ? .failed : .int(values[0] / values[1])
        case "mod": return values[1] == 0 ? .failed : .int(values[0] % values[1])
        case "abs": return .int(abs(values[0]))
        default: return .int(values[0])
        }
    }

    private static func texts(_ name: String, _ values: [Value]) -> Naive? {
        let names = [
            "char_length", "string_concat", "to_upper", "starts_with", "string_contains",
            "substring",
            "split",
        ]
        guard names.contains(name) else { return nil }
        guard let text = NaiveValues.text(values[0]) else { return .failed }
        let characters = Array(text)
        if name == "char_length" { return .int(characters.count) }
        if name == "to_upper" { return .some(.string(text.uppercased())) }
        if name == "substring" {
            guard let start = NaiveValues.whole(values[1]),
                let count = values.count > 2 ? NaiveValues.whole(values[2]) : 1_000, count >= 0
            else { return .failed }
            let first = max(0, start < 0 ? characters.count + start : start)
            return .some(.string(String(characters.dropFirst(first).prefix(count))))
        }
        let others = values.dropFirst().compactMap(NaiveValues.text)
        guard others.count == values.count - 1 else { return .failed }
        switch name {
        case "string_concat": return .some(.string(others.reduce(text, +)))
        case "starts_with": return .bool(text.hasPrefix(others[0]))
        case "string_contains":
            let starts = 0...characters.count
            return .bool(starts.contains { String(characters.dropFirst($0)).hasPrefix(others[0]) })
        default: return .some(.array(parts(characters, others[0]).map(Value.string)))
        }
    }

    /// Splits at a delimiter of at most one character.
    private static func parts(_ text: [Character], _ delimiter: String) -> [String] {
        if delimiter.isEmpty { return text.isEmpty ? [""] : text.map { String($0) } }
        return text.split(separator: delimiter.first!, omittingEmptySubsequences: false).map {
            String($0)
        }
    }

    private static func lists(_ name: String, _ values: [Value]) -> Naive? {
        guard name.hasPrefix("array_") || name == "reverse" else { return nil }
        if name == "reverse", let text = NaiveValues.text(values[0]) {
            return .some(.string(String(text.reversed())))
        }
        guard let list = NaiveValues.list(values[0]) else { return .failed }
        switch name {
        case "array_length": return .int(list.count)
        case "reverse", "array_reverse": return .some(.array(list.reversed()))
        case "array_first": return list.first.map(Naive.some) ?? .missing
        case "array_get":
            guard let index = NaiveValues.whole(values[1]) else { return .failed }
            let place = index < 0 ? list.count + index : index
            return place >= 0 && place < list.count ? .some(list[place]) : .missing
        case "array_concat", "array_contains_any", "array_contains_all":
            guard let other = NaiveValues.list(values[1]) else { return .failed }
            let found = other.map { item in list.contains { NaiveValues.same($0, item) } }
            return name == "array_concat"
                ? .some(.array(list + other))
                : .bool(
                    name == "array_contains_any" ? found.contains(true) : !found.contains(false))
        default: return .failed
        }
    }

    /// A value of another type is an error, beside a null too.
    private static func truth(_ name: String, _ arguments: [Naive]) -> Naive {
        var result = name == "not"
        for argument in arguments where !argument.isNothing {
            guard case .some(.boolean(let truth)) = argument else { return .failed }
            if truth { result.toggle() }
        }
        return arguments.contains(where: \.isNothing) ? .null : .bool(result)
    }
}
