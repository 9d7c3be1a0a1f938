import Foundation
import SwiftProtobuf
import TidemarkModel

extension PBStructuredQuery.FindNearest {
    init(_ nearest: FindNearest) {
        self.init()
        vectorField = .init(nearest.field)
        queryVector = Data(FieldsCodec.encode(.vector(VectorValue(nearest.vector))))
        distanceMeasure = DistanceMeasure(nearest.measure)
        limit = Google_Protobuf_Int32Value(Int32(clamping: nearest.limit))
        distanceResultField = nearest.distanceField?.encoded ?? ""
        if let threshold = nearest.threshold {
            distanceThreshold = Google_Protobuf_DoubleValue(threshold)
        }
    }

    /// Decodes the form only; the query's validation checks the values. A search without a limit
    /// gets the limit 0, which validation rejects.
    ///
    /// - Throws: `INVALID_ARGUMENT`. The texts are Tidemark's; production's were not recorded.
    func decoded() throws(RPCStatus) -> TidemarkModel.FindNearest {
        guard hasVectorField else {
            throw .invalidArgument("FindNearest must have a vector field.")
        }
        guard !queryVector.isEmpty, case .vector(let vector) = try Value(wire: queryVector) else {
            throw .invalidArgument("The query vector of FindNearest must be a vector.")
        }
        return FindNearest(
            field: try vectorField.decoded(), vector: vector.array,
            measure: try distanceMeasure.decoded(), limit: Int(limit.value),
            distanceField: distanceResultField.isEmpty
                ? nil : try FieldPath(wire: distanceResultField),
            threshold: hasDistanceThreshold ? distanceThreshold.value : nil)
    }
}

extension PBStructuredQuery.FindNearest.DistanceMeasure {
    init(_ measure: FindNearest.DistanceMeasure) {
        switch measure {
        case .euclidean: self = .euclidean
        case .cosine: self = .cosine
        case .dotProduct: self = .dotProduct
        }
    }

    func decoded() throws(RPCStatus) -> FindNearest.DistanceMeasure {
        switch self {
        case .euclidean: .euclidean
        case .cosine: .cosine
        case .dotProduct: .dotProduct
        case .unspecified, .UNRECOGNIZED:
            throw .invalidArgument("FindNearest has no distance measure that this server knows.")
        }
    }
}
