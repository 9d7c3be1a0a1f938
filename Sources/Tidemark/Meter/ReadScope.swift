extension ReadTag {
    /// The tag of the code that runs now, set by ``with(label:screen:cause:_:)``.
    @TaskLocal public static var current = ReadTag()

    /// Counts the reads of `body`, and of the tasks it starts, under a label, a screen or a cause.
    ///
    /// A nil parameter keeps the surrounding value. Costs no reads.
    ///
    /// ```swift
    /// try await ReadTag.with(label: "inbox", screen: "Inbox") {
    ///     _ = try await firestore.collection("rooms").getDocuments()
    /// }
    /// ```
    ///
    /// A listener is counted under the tag of the code that added it. The tag of a query or a
    /// document, from ``Query/counted(for:screen:cause:)``, comes first.
    public static func with<Value>(
        label: String? = nil, screen: String? = nil, cause: ReadCause? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        let tag = ReadTag(label: label, screen: screen, cause: cause).over(current)
        return try await $current.withValue(tag, operation: body, isolation: isolation)
    }

    /// Counts the reads of `body`, like the `async` form.
    public static func with<Value>(
        label: String? = nil, screen: String? = nil, cause: ReadCause? = nil,
        _ body: () throws -> Value
    ) rethrows -> Value {
        let tag = ReadTag(label: label, screen: screen, cause: cause).over(current)
        return try $current.withValue(tag, operation: body)
    }

    /// The tag, with the surrounding values for its missing parts.
    package var inScope: ReadTag { over(Self.current) }

    func over(_ outer: ReadTag) -> ReadTag {
        ReadTag(
            label: label ?? outer.label, screen: screen ?? outer.screen,
            cause: cause ?? outer.cause)
    }
}

extension Query {
    /// The same query, whose reads are counted for a part of the app, a screen or a cause.
    public func counted(
        for label: String? = nil, screen: String? = nil, cause: ReadCause? = nil
    ) -> Query {
        let tag = ReadTag(label: label, screen: screen, cause: cause).over(tag)
        return Query(firestore, value, tag: tag)
    }
}

extension DocumentReference {
    /// The same document, whose reads are counted for a part of the app, a screen or a cause.
    public func counted(
        for label: String? = nil, screen: String? = nil, cause: ReadCause? = nil
    ) -> DocumentReference {
        let tag = ReadTag(label: label, screen: screen, cause: cause).over(tag)
        return DocumentReference(firestore, resolved, text: path, tag: tag)
    }
}
