// MARK: Fields

extension Pipeline {
    /// Adds fields to each row. A field that exists is replaced.
    public func addFields(_ selectables: [any Selectable]) -> Pipeline {
        adding("add_fields") { () throws(FirestoreError) in
            [.map(try Self.entries(selectables))]
        }
    }

    /// Removes fields from each row.
    public func removeFields(_ fields: [Field]) -> Pipeline {
        adding("remove_fields") { () throws(FirestoreError) in
            try Operand.forms(of: fields).get()
        }
    }

    public func removeFields(_ fields: [String]) -> Pipeline {
        removeFields(fields.map { Field($0) })
    }

    /// Keeps only these fields. The rows no longer belong to their documents, unless `__name__` is
    /// among the fields.
    public func select(_ selections: [any Selectable]) -> Pipeline {
        adding("select") { () throws(FirestoreError) in [.map(try Self.entries(selections))] }
    }

    public func select(_ selections: [String]) -> Pipeline {
        select(selections.map { Field($0) })
    }

    /// Makes a map the new row.
    public func replace(with expression: any Expression) -> Pipeline {
        adding("replace_with") { () throws(FirestoreError) in
            [try expression.wireForm.get(), .constant(.string("full_replace"))]
        }
    }

    public func replace(with fieldName: String) -> Pipeline { replace(with: Field(fieldName)) }

    /// Binds variables for the stages behind, and for subqueries in them.
    public func define(_ variables: [AliasedExpression]) -> Pipeline {
        adding("let") { () throws(FirestoreError) in [.map(try Self.entries(variables))] }
    }

    /// Returns the names with their expressions.
    ///
    /// - Throws: `invalidArgument` for a name that occurs twice.
    private static func entries(
        _ selectables: [any Selectable], in place: String = "selectables"
    ) throws(FirestoreError) -> [PipelineValue.Entry] {
        var entries: [PipelineValue.Entry] = []
        for selectable in selectables {
            let alias = selectable.alias
            if entries.contains(where: { $0.key.hasSameBytes(as: alias) }) {
                throw .invalidArgument("Duplicate alias '\(alias)' found in \(place).")
            }
            entries.append(
                PipelineValue.Entry(
                    key: alias, value: try selectable.expression.wireForm.get()))
        }
        return entries
    }
}

// MARK: Rows

extension Pipeline {
    /// Keeps the rows for which the condition is true.
    public func `where`(_ condition: any BooleanExpression) -> Pipeline {
        adding("where") { () throws(FirestoreError) in [try condition.wireForm.get()] }
    }

    /// Skips the first rows.
    public func offset(_ offset: Int32) -> Pipeline {
        adding("offset") { [.constant(.integer(Int64(offset)))] }
    }

    /// Keeps only the first rows.
    public func limit(_ limit: Int32) -> Pipeline {
        adding("limit") { [.constant(.integer(Int64(limit)))] }
    }

    /// Orders the rows. Without this stage, and for rows with equal values, any order is possible.
    public func sort(_ orderings: [Ordering]) -> Pipeline {
        adding("sort") { () throws(FirestoreError) in try Self.forms(of: orderings) }
    }

    private static func forms(
        of orderings: [Ordering]
    ) throws(FirestoreError) -> [PipelineValue.Expression] {
        var forms: [PipelineValue.Expression] = []
        for ordering in orderings { forms.append(try ordering.wireForm.get()) }
        return forms
    }

    /// Keeps one row for each different combination of values.
    public func distinct(_ groups: [any Selectable]) -> Pipeline {
        adding("distinct") { () throws(FirestoreError) in [.map(try Self.entries(groups))] }
    }

    public func distinct(_ groups: [String]) -> Pipeline {
        distinct(groups.map { Field($0) })
    }

    /// Computes figures over all rows, or over each group of rows with equal values.
    ///
    /// - Parameters:
    ///   - aggregates: The figures, at least one.
    ///   - groups: The values that make a group. Without them there is exactly one row.
    public func aggregate(
        _ aggregates: [AliasedAggregate], groups: [any Selectable]? = nil
    ) -> Pipeline {
        adding("aggregate") { () throws(FirestoreError) in
            var figures: [PipelineValue.Entry] = []
            for aggregate in aggregates {
                let alias = aggregate.alias
                if figures.contains(where: { $0.key.hasSameBytes(as: alias) }) {
                    throw .invalidArgument("Duplicate alias '\(alias)' found in accumulators.")
                }
                figures.append(
                    PipelineValue.Entry(
                        key: alias, value: try aggregate.aggregate.wireForm.get()))
            }
            return [.map(figures), .map(try Self.entries(groups ?? []))]
        }
    }

    /// Keeps a number of rows, chosen at random.
    public func sample(count: Int64) -> Pipeline {
        adding("sample") { [.constant(.integer(count)), .constant(.string("documents"))] }
    }

    /// Keeps each row with a probability.
    ///
    /// - Parameter percentage: The probability, from 0 to 1.
    public func sample(percentage: Double) -> Pipeline {
        adding("sample") { [.constant(.double(percentage)), .constant(.string("percent"))] }
    }

    /// Adds the rows of another pipeline of the same database. Duplicates stay.
    public func union(with other: Pipeline) -> Pipeline {
        adding("union") { () throws(FirestoreError) in
            try self.check(other)
            return [try NestedPipeline(other).wireForm.get()]
        }
    }

    private func check(_ other: Pipeline) throws(FirestoreError) {
        guard let own = firestore?.databaseID, let others = other.firestore?.databaseID,
            own != others
        else { return }
        throw .invalidArgument("Pipelines of different databases cannot be joined.")
    }

    /// Makes a row of each element of an array.
    ///
    /// - Parameters:
    ///   - field: The array, and the name of the field that gets the element.
    ///   - indexField: The name of the field that gets the element's index, from 0; nil for none.
    public func unnest(_ field: any Selectable, indexField: String? = nil) -> Pipeline {
        adding("unnest") { () throws(FirestoreError) in
            [
                try field.expression.wireForm.get(),
                try (field as? Field ?? Field(field.alias)).wireForm.get(),
            ]
        } options: { () throws(FirestoreError) in
            guard let indexField else { return [] }
            return [
                PipelineValue.Entry(
                    key: "index_field", value: try Field(indexField).wireForm.get())
            ]
        }
    }

    /// Adds a stage by its name in the protocol, also one that changes documents: `delete`,
    /// `update`, `insert` or `upsert`.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - params: Expressions, constants, and dictionaries of both, which become the stage's maps.
    ///   - options: The named options; nil for none.
    public func rawStage(
        name: String, params: [any Sendable], options: [String: any Sendable]? = nil
    ) -> Pipeline {
        adding(name) { () throws(FirestoreError) in
            var arguments: [PipelineValue.Expression] = []
            for parameter in params {
                // A stage's maps are no values that a function makes.
                if let pairs = parameter as? [String: any Sendable] {
                    arguments.append(.map(try Operand.entries(pairs).get()))
                } else {
                    arguments.append(try Operand.form(of: parameter).get())
                }
            }
            return arguments
        } options: { () throws(FirestoreError) in
            try Operand.entries(options ?? [:]).get()
        }
    }
}

// MARK: Searches

extension Pipeline {
    /// Keeps the rows nearest to a vector, the nearest first.
    ///
    /// - Parameters:
    ///   - field: The field with each row's vector.
    ///   - vectorValue: The vector, of at most 2,048 dimensions.
    ///   - distanceMeasure: The measure of the distance.
    ///   - limit: The maximum number of rows; nil for all.
    ///   - distanceField: The field that gets the distance; nil for none.
    public func findNearest(
        field: Field, vectorValue: VectorValue, distanceMeasure: DistanceMeasure,
        limit: Int? = nil, distanceField: String? = nil
    ) -> Pipeline {
        adding("find_nearest") { () throws(FirestoreError) in
            [
                try field.wireForm.get(), .constant(.vector(vectorValue)),
                .constant(.string(distanceMeasure.rawValue)),
            ]
        } options: { () throws(FirestoreError) in
            var options: [PipelineValue.Entry] = []
            if let limit {
                options.append(
                    PipelineValue.Entry(key: "limit", value: .constant(.integer(Int64(limit)))))
            }
            if let distanceField {
                options.append(
                    PipelineValue.Entry(
                        key: "distance_field", value: try Field(distanceField).wireForm.get()))
            }
            return options
        }
    }

    /// Keeps the documents that match a search, best first. Must follow the collection directly.
    ///
    /// - Parameters:
    ///   - query: The condition, for example ``DocumentMatches``.
    ///   - languageCode: The language of the words; nil for the server's choice.
    ///   - retrievalDepth: The maximum number of documents to rank; nil for the server's choice.
    ///   - sort: Another order than the rank.
    ///   - offset: The number of rows to skip.
    ///   - limit: The maximum number of rows.
    ///   - addFields: Fields to add, for example the ``Score``.
    public func search(
        query: any Expression, languageCode: String? = nil, retrievalDepth: Int? = nil,
        sort: [Ordering]? = nil, offset: Int? = nil, limit: Int? = nil,
        addFields: [any Selectable]? = nil
    ) -> Pipeline {
        adding("search") {
            []
        } options: { () throws(FirestoreError) in
            var options = [PipelineValue.Entry(key: "query", value: try query.wireForm.get())]
            let numbers = [
                ("retrieval_depth", retrievalDepth), ("offset", offset), ("limit", limit),
            ]
            for case (let key, let number?) in numbers {
                options.append(
                    PipelineValue.Entry(key: key, value: .constant(.integer(Int64(number)))))
            }
            if let languageCode {
                options.append(
                    PipelineValue.Entry(
                        key: "language_code", value: .constant(.string(languageCode))))
            }
            if let sort {
                options.append(
                    PipelineValue.Entry(key: "sort", value: .array(try Self.forms(of: sort))))
            }
            if let addFields {
                options.append(
                    PipelineValue.Entry(
                        key: "add_fields", value: .map(try Self.entries(addFields))))
            }
            return options
        }
    }

    /// Searches for words.
    ///
    /// - Parameters:
    ///   - query: The words. A `-` before a word excludes documents with it.
    ///   - languageCode: The language of the words; nil for the server's choice.
    ///   - retrievalDepth: The maximum number of documents to rank; nil for the server's choice.
    ///   - sort: Another order than the rank.
    ///   - offset: The number of rows to skip.
    ///   - limit: The maximum number of rows.
    ///   - addFields: Fields to add, for example the ``Score``.
    public func search(
        query: String, languageCode: String? = nil, retrievalDepth: Int? = nil,
        sort: [Ordering]? = nil, offset: Int? = nil, limit: Int? = nil,
        addFields: [any Selectable]? = nil
    ) -> Pipeline {
        search(
            query: DocumentMatches(query), languageCode: languageCode,
            retrievalDepth: retrievalDepth, sort: sort, offset: offset, limit: limit,
            addFields: addFields)
    }
}

// MARK: Subqueries

extension Pipeline {
    /// The rows as an array, for an expression of another pipeline. A row of one field is its
    /// value.
    public func toArrayExpression() -> any Expression {
        FunctionExpression("array", NestedPipeline(self))
    }

    /// The only row as a value, for an expression of another pipeline. Null without a row; more
    /// rows are an error.
    public func toScalarExpression() -> any Expression {
        FunctionExpression("scalar", NestedPipeline(self))
    }
}
