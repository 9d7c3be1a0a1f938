import TidemarkModel

/// Functions of vectors.
enum Vectors {
    static let functions: [Function] = [
        distance("cosine_distance") { a, b throws(Fault) in
            if FindNearest.isZero(a) || FindNearest.isZero(b) {
                throw Fault("cosine_distance: a vector has a magnitude of zero.")
            }
            return try measured(.cosine, a: a, b: b)
        },
        distance("dot_product") { a, b throws(Fault) in try measured(.dotProduct, a: a, b: b) },
        distance("euclidean_distance") { a, b throws(Fault) in try measured(.euclidean, a: a, b: b)
        },
        distance("manhattan_distance") { a, b throws(Fault) in
            zip(a, b).reduce(0) { $0 + ($1.0 - $1.1).magnitude }
        },
        .ofOne("vector_length") { value throws(Fault) in
            .integer(try value.vector(in: "vector_length").count)
        },
    ]

    private static func distance(
        _ name: String,
        _ measure: @escaping @Sendable ([Double], [Double]) throws(Fault) -> Double
    ) -> Function {
        .ofValues(name, takes: 2...2) { values, _ throws(Fault) in
            let (a, b) = (try values[0].vector(in: name), try values[1].vector(in: name))
            if a.count != b.count {
                throw Fault("\(name): the vectors have \(a.count) and \(b.count) dimensions.")
            }
            return .value(.double(try measure(a, b)))
        }
    }

    private static func measured(
        _ measure: FindNearest.DistanceMeasure, a: [Double], b: [Double]
    ) throws(Fault) -> Double {
        let search = FindNearest(
            field: .documentID, vector: a, measure: measure, limit: 1)
        do throws(RPCStatus) { return try search.distance(to: b) ?? .nan } catch {
            throw Fault(error.message)
        }
    }
}
