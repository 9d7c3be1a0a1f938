extension Query {
    /// The rows that also match the filter.
    public func whereFilter(_ filter: Filter) -> Query {
        changed { query throws(FirestoreError) in
            let new = try filter.value(for: query, in: self.firestore.databaseID)
            switch query.filter {
            case nil: query.filter = new
            case .and(let filters)?: query.filter = .and(filters + [new])
            case let old?: query.filter = .and([old, new])
            }
        }
    }

    public func whereField(_ field: some FieldName, isEqualTo value: Any) -> Query {
        whereFilter(Filter(field, .equal, value))
    }

    /// Documents that have the field, with another value.
    public func whereField(_ field: some FieldName, isNotEqualTo value: Any) -> Query {
        whereFilter(Filter(field, .notEqual, value))
    }

    public func whereField(_ field: some FieldName, isLessThan value: Any) -> Query {
        whereFilter(Filter(field, .lessThan, value))
    }

    public func whereField(_ field: some FieldName, isLessThanOrEqualTo value: Any) -> Query {
        whereFilter(Filter(field, .lessThanOrEqual, value))
    }

    public func whereField(_ field: some FieldName, isGreaterThan value: Any) -> Query {
        whereFilter(Filter(field, .greaterThan, value))
    }

    public func whereField(_ field: some FieldName, isGreaterThanOrEqualTo value: Any) -> Query {
        whereFilter(Filter(field, .greaterThanOrEqual, value))
    }

    public func whereField(_ field: some FieldName, arrayContains value: Any) -> Query {
        whereFilter(Filter(field, .arrayContains, value))
    }

    public func whereField(_ field: some FieldName, arrayContainsAny values: [Any]) -> Query {
        whereFilter(Filter(field, .arrayContainsAny, values))
    }

    public func whereField(_ field: some FieldName, in values: [Any]) -> Query {
        whereFilter(Filter(field, .isIn, values))
    }

    public func whereField(_ field: some FieldName, notIn values: [Any]) -> Query {
        whereFilter(Filter(field, .notIn, values))
    }
}
