// MARK: Arrays

extension Expression {
    /// Returns the number of elements.
    public func arrayLength() -> FunctionExpression { FunctionExpression("array_length", self) }

    /// Returns the elements in reverse order.
    public func arrayReverse() -> FunctionExpression { FunctionExpression("array_reverse", self) }

    /// Joins arrays.
    public func arrayConcat(_ arrays: [any Expression]) -> FunctionExpression {
        FunctionExpression("array_concat", all: [self] + arrays as [any Expression])
    }

    public func arrayConcat(_ arrays: [[any Sendable]]) -> FunctionExpression {
        FunctionExpression("array_concat", all: [self] + arrays as [any Sendable])
    }

    /// True if the array has an element that equals the value.
    public func arrayContains(_ element: any Sendable) -> any BooleanExpression {
        Condition("array_contains", self, element)
    }

    /// True if the array has every value of the list.
    public func arrayContainsAll(_ values: [any Sendable]) -> any BooleanExpression {
        Condition("array_contains_all", self, Operand.list(values))
    }

    public func arrayContainsAll(_ array: any Expression) -> any BooleanExpression {
        Condition("array_contains_all", self, array)
    }

    /// True if the array has at least one value of the list.
    public func arrayContainsAny(_ values: [any Sendable]) -> any BooleanExpression {
        Condition("array_contains_any", self, Operand.list(values))
    }

    public func arrayContainsAny(_ array: any Expression) -> any BooleanExpression {
        Condition("array_contains_any", self, array)
    }

    /// Returns the elements for which a condition is true.
    ///
    /// - Parameters:
    ///   - alias: The name under which the condition sees the element, as a ``Variable``.
    ///   - filter: The condition.
    public func arrayFilter(
        alias: String, filter: any BooleanExpression
    ) -> FunctionExpression {
        FunctionExpression("array_filter", self, alias, filter)
    }

    /// Returns a value for each element.
    ///
    /// - Parameters:
    ///   - elementAlias: The name under which the expression sees the element, as a ``Variable``.
    ///   - transform: The value.
    public func arrayTransform(
        elementAlias: String, transform: any Expression
    ) -> FunctionExpression {
        FunctionExpression("array_transform", self, elementAlias, transform)
    }

    /// Returns a value for each element, like ``arrayTransform(elementAlias:transform:)``. The
    /// expression also sees the element's index, from 0.
    public func arrayTransformWithIndex(
        elementAlias: String, indexAlias: String, transform: any Expression
    ) -> FunctionExpression {
        FunctionExpression("array_transform", self, elementAlias, indexAlias, transform)
    }

    /// Returns the element at an index, from 0; from the end if negative.
    public func arrayGet(_ index: Int) -> FunctionExpression {
        FunctionExpression("array_get", self, index)
    }

    public func arrayGet(_ index: any Expression) -> FunctionExpression {
        FunctionExpression("array_get", self, index)
    }

    /// Returns the first element.
    public func arrayFirst() -> FunctionExpression { FunctionExpression("array_first", self) }

    /// Returns the last element.
    public func arrayLast() -> FunctionExpression { FunctionExpression("array_last", self) }

    /// Returns the first elements.
    public func arrayFirstN(_ count: Int) -> FunctionExpression {
        FunctionExpression("array_first_n", self, count)
    }

    public func arrayFirstN(_ count: any Expression) -> FunctionExpression {
        FunctionExpression("array_first_n", self, count)
    }

    /// Returns the last elements.
    public func arrayLastN(_ count: Int) -> FunctionExpression {
        FunctionExpression("array_last_n", self, count)
    }

    public func arrayLastN(_ count: any Expression) -> FunctionExpression {
        FunctionExpression("array_last_n", self, count)
    }

    /// Returns the elements from an index on; from the end if negative.
    public func arraySlice(offset: Int) -> FunctionExpression {
        FunctionExpression("array_slice", self, offset)
    }

    public func arraySlice(offset: any Expression) -> FunctionExpression {
        FunctionExpression("array_slice", self, offset)
    }

    /// Returns a number of elements from an index on.
    public func arraySlice(
        offset: Int, length: Int
    ) -> FunctionExpression {
        FunctionExpression("array_slice", self, offset, length)
    }

    public func arraySlice(
        offset: any Expression, length: any Expression
    ) -> FunctionExpression {
        FunctionExpression("array_slice", self, offset, length)
    }

    public func arraySlice(
        offset: Int, length: any Expression
    ) -> FunctionExpression {
        FunctionExpression("array_slice", self, offset, length)
    }

    public func arraySlice(
        offset: any Expression, length: Int
    ) -> FunctionExpression {
        FunctionExpression("array_slice", self, offset, length)
    }

    /// Returns the first index of a value; -1 if there is none.
    public func arrayIndexOf(_ value: any Sendable) -> FunctionExpression {
        FunctionExpression("array_index_of", self, value, "first")
    }

    /// Returns all indexes of a value.
    public func arrayIndexOfAll(_ value: any Sendable) -> FunctionExpression {
        FunctionExpression("array_index_of_all", self, value)
    }

    /// Returns the last index of a value; -1 if there is none.
    public func arrayLastIndexOf(_ value: any Sendable) -> FunctionExpression {
        FunctionExpression("array_index_of", self, value, "last")
    }

    /// Returns the greatest element; null if there is none.
    public func arrayMaximum() -> FunctionExpression { FunctionExpression("maximum", self) }

    /// Returns the least element; null if there is none.
    public func arrayMinimum() -> FunctionExpression { FunctionExpression("minimum", self) }

    /// Returns the greatest elements, the greatest first.
    public func arrayMaximumN(_ count: Int) -> FunctionExpression {
        FunctionExpression("maximum_n", self, count)
    }

    public func arrayMaximumN(_ count: any Expression) -> FunctionExpression {
        FunctionExpression("maximum_n", self, count)
    }

    /// Returns the least elements, the least first.
    public func arrayMinimumN(_ count: Int) -> FunctionExpression {
        FunctionExpression("minimum_n", self, count)
    }

    public func arrayMinimumN(_ count: any Expression) -> FunctionExpression {
        FunctionExpression("minimum_n", self, count)
    }
}

// MARK: Maps

extension Expression {
    /// Returns the value of a key. Dots in the key have no meaning.
    public func getField(_ key: String) -> FunctionExpression {
        FunctionExpression("get_field", self, key)
    }

    public func getField(_ key: any Expression) -> FunctionExpression {
        FunctionExpression("get_field", self, key)
    }

    /// Returns the value of a key. Dots in the key have no meaning.
    public func mapGet(_ key: String) -> FunctionExpression {
        FunctionExpression("map_get", self, key)
    }

    /// Returns the map without a key.
    public func mapRemove(_ key: String) -> FunctionExpression {
        FunctionExpression("map_remove", self, key)
    }

    public func mapRemove(_ key: any Expression) -> FunctionExpression {
        FunctionExpression("map_remove", self, key)
    }

    /// Returns the map with the entries of others. The last one of several equal keys counts.
    public func mapMerge(_ maps: [any Expression]) -> FunctionExpression {
        FunctionExpression("map_merge", all: [self] + maps as [any Expression])
    }

    public func mapMerge(_ maps: [[String: any Sendable]]) -> FunctionExpression {
        FunctionExpression("map_merge", all: [self] + maps as [any Sendable])
    }

    /// Returns the map with other values.
    ///
    /// - Parameters:
    ///   - key: A key.
    ///   - value: Its value. An absent value removes the key.
    ///   - more: More keys, each with its value.
    public func mapSet(
        _ key: any Expression, _ value: any Expression, _ more: any Expression...
    ) -> FunctionExpression {
        FunctionExpression("map_set", all: [self, key, value] + more as [any Expression])
    }

    public func mapSet(
        _ key: String, _ value: any Sendable, _ more: any Sendable...
    ) -> FunctionExpression {
        FunctionExpression("map_set", all: [self, key, value] + more as [any Sendable])
    }

    /// Returns the keys.
    public func mapKeys() -> FunctionExpression { FunctionExpression("map_keys", self) }

    /// Returns the values.
    public func mapValues() -> FunctionExpression { FunctionExpression("map_values", self) }

    /// Returns the entries, each a map of `k` and `v`.
    public func mapEntries() -> FunctionExpression { FunctionExpression("map_entries", self) }
}
