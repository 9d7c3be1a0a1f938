import TidemarkModel

/// The part of the stage `search` that holds an expression.
enum SearchPlace: Sendable {
    case none
    case query
    /// The order and the added fields, where a score exists.
    case result
}

/// The functions of the stage `search`.
enum TextSearch {
    static let functions: [String: (function: Function, places: Set<SearchPlace>)] = [
        "document_matches": (documentMatches, [.query]),
        "geo_distance": (geoDistance, [.query, .result]),
        "score": (score, [.result]),
    ]

    private static let documentMatches = Function.lazily(
        "document_matches", takes: 1...1
    ) { arguments, scope in
        guard case .value(.string(let text)) = arguments[0].evaluate(scope) else {
            return .error("document_matches expects a string.")
        }
        do throws(PipelineError) {
            return .boolean(try scope.run.query(text).matches(scope.run.words(of: scope.row)))
        } catch { return .error(error.message) }
    }

    private static let score = Function.lazily("score", takes: 0...0) { _, scope in
        .value(.double(scope.row.score ?? 0))
    }

    /// The distance on a sphere, in metres.
    private static let geoDistance = Function.ofValues(
        "geo_distance", takes: 2...2
    ) { values, _ throws(Fault) in
        guard case .geoPoint(let a) = values[0], case .geoPoint(let b) = values[1] else {
            throw Fault("geo_distance expects two points.")
        }
        return .value(.double(RealMath.distance(from: a, to: b)))
    }
}
