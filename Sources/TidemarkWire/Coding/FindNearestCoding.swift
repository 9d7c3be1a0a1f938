import TidemarkModel

extension FindNearestMessage {
    init(_ nearest: FindNearest) {
        self.init()
        vectorField = FieldReferenceMessage(nearest.field)
        queryVector = MessageBytes(FieldsCodec.encode(.vector(VectorValue(nearest.vector))))
        distanceMeasure = nearest.measure.wireNumber
        limit = WrappedMessage(value: Int32(clamping: nearest.limit))
        distanceResultField = nearest.distanceField?.encoded ?? ""
        distanceThreshold = nearest.threshold.map { WrappedMessage(value: $0) }
    }

    /// Decodes the form only; the query's validation checks the values. A search without a limit
    /// gets the limit 0, which validation rejects.
    ///
    /// - Throws: `INVALID_ARGUMENT`. The texts are Tidemark's; production's were not recorded.
    func decoded() throws(RPCStatus) -> FindNearest {
        guard let vectorField else {
            throw .invalidArgument("FindNearest must have a vector field.")
        }
        guard !queryVector.isEmpty, case .vector(let vector) = try Value(wire: queryVector) else {
            throw .invalidArgument("The query vector of FindNearest must be a vector.")
        }
        return FindNearest(
            field: try vectorField.decoded(), vector: vector.array,
            measure: try FindNearest.DistanceMeasure(wire: distanceMeasure),
            limit: Int(limit?.value ?? 0),
            distanceField: distanceResultField.isEmpty
                ? nil : try FieldPath(wire: distanceResultField),
            threshold: distanceThreshold?.value)
    }
}

extension FindNearest.DistanceMeasure {
    var wireNumber: Int32 {
        switch self {
        case .euclidean: 1
        case .cosine: 2
        case .dotProduct: 3
        }
    }

    init(wire number: Int32) throws(RPCStatus) {
        guard let measure = Self.allCases.first(where: { $0.wireNumber == number }) else {
            throw .invalidArgument("FindNearest has no distance measure that this server knows.")
        }
        self = measure
    }
}
