extension MapValue {
    /// Only the given fields, where they exist; maps on the way come with nothing else in them.
    ///
    /// `[.documentID]` names no field, so it gives none; paths may repeat or lie in each other.
    /// Costs a search for each path.
    public func projected(to fields: [FieldPath]) -> MapValue {
        var result = MapValue()
        // Shorter paths first, so that a whole map is not laid over what was picked from it.
        for field in fields.sorted(by: { $0.segments.count < $1.segments.count })
        where !field.isDocumentID {
            if let value = self[field] { result[field] = value }
        }
        return result
    }
}
