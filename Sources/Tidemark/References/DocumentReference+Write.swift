// A write is stored in the durable queue before it is sent, so it survives a kill and is sent when
// a network is available. The `async` forms return when the server has acknowledged the write, as
// in FirebaseFirestore; the `enqueue` forms return when the write is durable. A cancelled task
// stops waiting, and its write stays in the queue. Each write costs one write.

extension DocumentReference {
    /// Replaces the document.
    public func setData(
        _ data: [String: Any], isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) {
        try await firestore.commit([try WriteTranslation.set(try documentPath(), data)])
    }

    /// Replaces the document or, with `merge`, writes only the given fields.
    public func setData(
        _ data: [String: Any], merge: Bool, isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) {
        try await firestore.commit([try set(data, merge: merge)])
    }

    /// Writes only the listed fields, each of which must be in the data.
    public func setData(
        _ data: [String: Any], mergeFields: [Any],
        isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) {
        try await firestore.commit([
            try WriteTranslation.merge(try documentPath(), data, fields: mergeFields)
        ])
    }

    /// Changes fields of a document that exists; keys are texts with dots, or ``FieldPath``s.
    ///
    /// - Throws: `notFound` if the document does not exist.
    public func updateData(
        _ fields: [AnyHashable: Any], isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) {
        try await firestore.commit([try update(fields)])
    }

    /// Deletes the document, whether it exists or not. Collections below it stay.
    public func delete() async throws(FirestoreError) {
        try await firestore.commit([Mutation(path: try documentPath(), .delete)])
    }
}

extension DocumentReference {
    /// Writes like ``setData(_:merge:isolation:)``, but returns when the write is durable on this
    /// device.
    public func enqueueSetData(
        _ data: [String: Any], merge: Bool = false, isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) -> WriteReceipt {
        let files = FieldFiles()
        let mutation = try set(data, merge: merge, files: files)
        return try await firestore.enqueue([mutation], files.attachments(to: mutation.path))
    }

    /// Writes like ``updateData(_:isolation:)``, but returns when the write is durable on this
    /// device.
    public func enqueueUpdateData(
        _ fields: [AnyHashable: Any], isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) -> WriteReceipt {
        let files = FieldFiles()
        let mutation = try update(fields, files: files)
        return try await firestore.enqueue([mutation], files.attachments(to: mutation.path))
    }

    /// Deletes like ``delete()``, but returns when the write is durable on this device.
    public func enqueueDelete() async throws(FirestoreError) -> WriteReceipt {
        try await firestore.enqueue([Mutation(path: try documentPath(), .delete)])
    }
}

// These functions do not wait: each write is queued before the call returns, in the order of calls.
// `completion` is called on the listeners' queue after the server has answered. Without it, an
// invalid call is written to the log, and a write that the server refuses is added to the rejected
// writes.

extension DocumentReference {
    public func setData(
        _ data: [String: Any], completion: (((any Error)?) -> Void)? = nil
    ) {
        commit(completion) { path throws(FirestoreError) in try WriteTranslation.set(path, data) }
    }

    public func setData(
        _ data: [String: Any], merge: Bool,
        completion: (((any Error)?) -> Void)? = nil
    ) {
        commit(completion) { _ throws(FirestoreError) in try self.set(data, merge: merge) }
    }

    public func setData(
        _ data: [String: Any], mergeFields: [Any],
        completion: (((any Error)?) -> Void)? = nil
    ) {
        commit(completion) { path throws(FirestoreError) in
            try WriteTranslation.merge(path, data, fields: mergeFields)
        }
    }

    public func updateData(
        _ fields: [AnyHashable: Any], completion: (((any Error)?) -> Void)? = nil
    ) {
        commit(completion) { _ throws(FirestoreError) in try self.update(fields) }
    }

    public func delete(completion: (((any Error)?) -> Void)? = nil) {
        commit(completion) { path throws(FirestoreError) in Mutation(path: path, .delete) }
    }

    private func commit(
        _ completion: (((any Error)?) -> Void)?,
        _ translate: (DocumentPath) throws(FirestoreError) -> Mutation
    ) {
        let mutations = Result { () throws(FirestoreError) in
            [try translate(try documentPath())]
        }
        firestore.commit(mutations, completion)
    }

    private func set(
        _ data: [String: Any], merge: Bool, files: FieldFiles? = nil
    ) throws(FirestoreError) -> Mutation {
        let path = try documentPath()
        return merge
            ? try WriteTranslation.merge(path, data, files: files)
            : try WriteTranslation.set(path, data, files: files)
    }

    private func update(
        _ fields: [AnyHashable: Any], files: FieldFiles? = nil
    ) throws(FirestoreError) -> Mutation {
        try WriteTranslation.update(
            try documentPath(), try WriteTranslation.named(fields), files: files)
    }
}

extension WriteTranslation {
    static func named(
        _ fields: [AnyHashable: Any]
    ) throws(FirestoreError) -> [(name: any FieldName, value: Any)] {
        var result: [(name: any FieldName, value: Any)] = []
        for (key, value) in fields {
            guard let name = key.base as? any FieldName else {
                throw .invalidArgument("\(key) is not a field: keys must be strings or FieldPaths.")
            }
            result.append((name, value))
        }
        return result
    }
}
