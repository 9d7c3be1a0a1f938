/// The beginning of a pipeline: the documents that it reads.
public struct PipelineSource: Sendable {
    let firestore: Firestore

    /// Returns all documents of a collection.
    ///
    /// - Parameters:
    ///   - path: The path, such as `rooms/blue/messages`.
    ///   - forceIndex: The only index that the server may use; `primary` for none.
    public func collection(_ path: String, forceIndex: String? = nil) -> Pipeline {
        collection(firestore.collection(path), forceIndex: forceIndex)
    }

    public func collection(
        _ collection: CollectionReference, forceIndex: String? = nil
    ) -> Pipeline {
        pipeline("collection", forceIndex: forceIndex) { () throws(FirestoreError) in
            let path = try collection.resolved.get()
            try check(collection.firestore, CollectionReference.self)
            return [.reference("/" + path.text)]
        }
    }

    /// Returns the documents of all collections with this id, at any place of the database.
    public func collectionGroup(_ collectionId: String, forceIndex: String? = nil) -> Pipeline {
        pipeline("collection_group", forceIndex: forceIndex) { () throws(FirestoreError) in
            // The same check as for a query of the group.
            _ = try firestore.collectionGroup(collectionId).value.get()
            return [.reference(""), .constant(.string(collectionId))]
        }
    }

    /// Returns all documents of the database.
    public func database() -> Pipeline { pipeline("database") { [] } }

    /// Returns the documents that exist among these.
    public func documents(_ docs: [DocumentReference]) -> Pipeline {
        pipeline("documents") { () throws(FirestoreError) in
            if docs.isEmpty { throw .invalidArgument("documents needs at least one document.") }
            var seen: Set<DocumentPath> = []
            var names: [PipelineValue.Expression] = []
            for document in docs {
                let path = try document.documentPath()
                try check(document.firestore, DocumentReference.self)
                guard seen.insert(path).inserted else {
                    throw .invalidArgument("Duplicate document path \"\(path.text)\".")
                }
                names.append(.reference("/" + path.text))
            }
            return names
        }
    }

    public func documents(_ paths: [String]) -> Pipeline {
        documents(paths.map { firestore.document($0) })
    }

    /// Returns the pipeline that reads the same rows as a query.
    public func create(from query: Query) -> Pipeline {
        Pipeline(
            firestore,
            Result { () throws(FirestoreError) in
                try check(query.firestore, Query.self)
                let query = try query.runnable()
                do throws(RPCStatus) { return try PipelineValue(query) } catch {
                    throw FirestoreError(error)
                }
            }, tag: query.tag)
    }

    private func pipeline(
        _ name: String, forceIndex: String? = nil,
        _ arguments: () throws(FirestoreError) -> [PipelineValue.Expression]
    ) -> Pipeline {
        Pipeline(firestore, .success(PipelineValue(stages: []))).adding(name, arguments) {
            guard let forceIndex else { return [] }
            return [
                PipelineValue.Entry(key: "force_index", value: .constant(.string(forceIndex)))
            ]
        }
    }

    private func check(_ other: Firestore, _ kind: Any.Type) throws(FirestoreError) {
        let (own, others) = (firestore.databaseID, other.databaseID)
        if own == others { return }
        throw .invalidArgument(
            """
            Invalid \(kind). The project ID ("\(others.project)") or the database \
            ("\(others.database)") does not match the project ID ("\(own.project)") and database \
            ("\(own.database)") of the target database of this Pipeline.
            """)
    }
}
