extension Query {
    /// Starts at the rows with these values: one for each order, or for the first few.
    public func start(at values: [Any]) -> Query { start(values, before: true) }

    /// Starts after the rows with these values.
    public func start(after values: [Any]) -> Query { start(values, before: false) }

    /// Ends before the rows with these values.
    public func end(before values: [Any]) -> Query { end(values, before: true) }

    /// Ends at the rows with these values.
    public func end(at values: [Any]) -> Query { end(values, before: false) }

    /// Starts at this document, which must have the fields of the orders.
    public func start(atDocument document: DocumentSnapshot) -> Query {
        start(document, before: true)
    }

    public func start(afterDocument document: DocumentSnapshot) -> Query {
        start(document, before: false)
    }

    public func end(beforeDocument document: DocumentSnapshot) -> Query {
        end(document, before: true)
    }

    public func end(atDocument document: DocumentSnapshot) -> Query {
        end(document, before: false)
    }

    private func start(_ values: [Any], before: Bool) -> Query {
        changed { query throws(FirestoreError) in
            query.start = try self.cursor(values, before: before, query)
        }
    }

    private func end(_ values: [Any], before: Bool) -> Query {
        changed { query throws(FirestoreError) in
            query.end = try self.cursor(values, before: before, query)
        }
    }

    private func start(_ document: DocumentSnapshot, before: Bool) -> Query {
        changed { query throws(FirestoreError) in
            query.start = try self.cursor(document, before: before, &query)
        }
    }

    private func end(_ document: DocumentSnapshot, before: Bool) -> Query {
        changed { query throws(FirestoreError) in
            query.end = try self.cursor(document, before: before, &query)
        }
    }

    private func cursor(
        _ values: [Any], before: Bool, _ query: QueryValue
    ) throws(FirestoreError) -> Cursor {
        guard (1...max(1, query.orders.count)).contains(values.count), !query.orders.isEmpty else {
            throw .invalidArgument(
                """
                A cursor has \(values.count) values, but the query has only \
                \(query.orders.count) orders.
                """)
        }
        var result: [Value] = []
        for (any, order) in zip(values, query.orders) {
            let value = try ValueParser.value(any)
            result.append(
                order.field.isDocumentID
                    ? try query.names(value, in: firestore.databaseID) : value)
        }
        return Cursor(values: result, before: before)
    }

    /// The place of a document depends on all orders, so the implicit orders become explicit.
    private func cursor(
        _ document: DocumentSnapshot, before: Bool, _ query: inout QueryValue
    ) throws(FirestoreError) -> Cursor {
        guard let fields = document.fields else {
            throw .invalidArgument("A document that does not exist cannot be a cursor.")
        }
        guard query.contains(document.documentPath) else {
            throw .invalidArgument("\(document.documentPath) lies outside the query's collection.")
        }
        query.orders = query.normalizedOrders
        var values: [Value] = []
        for order in query.orders {
            if order.field.isDocumentID {
                values.append(.reference(try document.reference.value()))
                continue
            }
            switch fields[order.field] {
            case .pendingServerTimestamp?:
                throw .invalidArgument("The server has not set the time \(order.field) yet.")
            case let value?: values.append(value)
            case nil:
                throw .invalidArgument(
                    """
                    The document has no field \(order.field) to start from.
                    """)
            }
        }
        return Cursor(values: values, before: before)
    }
}
