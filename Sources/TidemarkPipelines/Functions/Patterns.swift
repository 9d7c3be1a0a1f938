import TidemarkModel
import TidemarkPatterns

/// Regular expressions in RE2's syntax, which has no back-references and no look-around.
enum Patterns {
    static let functions: [Function] = [
        matching("regex_contains") { pattern, text, steps in
            pattern.contained(in: text, steps: &steps)
        },
        matching("regex_match") { pattern, text, steps in
            pattern.matchesWhole(text, steps: &steps)
        },
        finding("regex_find", most: 1) { .value($0.first.map(Value.string) ?? .null) },
        finding("regex_find_all", most: .max) { .value(.array($0.map(Value.string))) },
    ]

    private static func matching(
        _ name: String,
        _ body: @escaping @Sendable (Pattern, String, inout Int) -> Bool?
    ) -> Function {
        .ofValues(name, takes: 2...2) { values, scope throws(Fault) in
            let text = try values[0].string(in: name)
            let pattern = try scope.run.pattern(try values[1].string(in: name), in: name)
            let most = scope.run.context.limits.patternSteps
            var steps = most
            defer { scope.run.count(patternSteps: most - steps) }
            guard let result = body(pattern, text, &steps) else { throw tooSlow(name) }
            return .boolean(result)
        }
    }

    /// - Parameter most: The maximum number of matches to find.
    private static func finding(
        _ name: String, most: Int, _ result: @escaping @Sendable ([String]) -> Outcome
    ) -> Function {
        .ofValues(name, takes: 2...2) { values, scope throws(Fault) in
            let text = try values[0].string(in: name)
            let pattern = try scope.run.pattern(try values[1].string(in: name), in: name)
            if pattern.groupCount > 1 {
                throw Fault("\(name): the pattern has more than one capturing group.")
            }
            let limit = scope.run.context.limits.patternSteps
            var steps = limit
            defer { scope.run.count(patternSteps: limit - steps) }
            guard let found = pattern.matches(in: text, most: most, steps: &steps) else {
                throw tooSlow(name)
            }
            return result(found)
        }
    }

    private static func tooSlow(_ name: String) -> Fault {
        Fault("\(name): the pattern needs too many steps for this text.")
    }
}
