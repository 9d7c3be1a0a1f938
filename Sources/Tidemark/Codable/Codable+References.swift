// Reading and writing values of Swift types. The `async` writes return when the server has
// acknowledged the write. If a value cannot be encoded, they throw before anything is queued.

extension DocumentReference {
    /// Reads the document once and decodes it. Costs one read, like
    /// ``getDocument(source:within:)``.
    ///
    /// - Parameters:
    ///   - type: The type to decode. An optional type is nil for a document that does not exist.
    ///   - serverTimestampBehavior: The value of a server timestamp that the server has not set
    ///     yet.
    ///   - decoder: Converts values to Swift types.
    ///   - source: The source: the server, the cache, or the cache if the server does not answer.
    /// - Throws: ``FirestoreError``, `DecodingError` or ``FirestoreDecodingError``.
    public func getDocument<T: Decodable>(
        as type: T.Type, with serverTimestampBehavior: ServerTimestampBehavior = .none,
        decoder: Firestore.Decoder = Firestore.Decoder(), source: FirestoreSource = .default
    ) async throws -> T {
        try await getDocument(source: source).data(
            as: type, with: serverTimestampBehavior, decoder: decoder)
    }

    /// Runs like the `async` form; `completion` is called on the listeners' queue.
    public func getDocument<T: Decodable & SendableMetatype>(
        as type: T.Type, with serverTimestampBehavior: ServerTimestampBehavior = .none,
        decoder: Firestore.Decoder = Firestore.Decoder(), source: FirestoreSource = .default,
        completion: @escaping (Result<T, any Error>) -> Void
    ) {
        getDocument(source: source) { [completion] snapshot, error in
            completion(
                Result {
                    guard let snapshot else { throw error ?? FirestoreError.cancelled }
                    return try snapshot.data(
                        as: T.self, with: serverTimestampBehavior, decoder: decoder)
                })
        }
    }

    /// Replaces the document.
    public func setData<T: Encodable>(
        from value: T, encoder: Firestore.Encoder = Firestore.Encoder(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws { try await setData(try encoder.written(value)) }

    /// Replaces the document or, with `merge`, writes the value's fields and leaves the others.
    public func setData<T: Encodable>(
        from value: T, merge: Bool, encoder: Firestore.Encoder = Firestore.Encoder(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws { try await setData(try encoder.written(value), merge: merge) }

    /// Writes only the listed fields, each of which the value must have.
    public func setData<T: Encodable>(
        from value: T, mergeFields: [Any],
        encoder: Firestore.Encoder = Firestore.Encoder(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws { try await setData(try encoder.written(value), mergeFields: mergeFields) }

    /// Writes like ``enqueueSetData(_:merge:isolation:)``.
    public func enqueueSetData<T: Encodable>(
        from value: T, merge: Bool = false, encoder: Firestore.Encoder = Firestore.Encoder(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> WriteReceipt {
        try await enqueueSetData(try encoder.written(value), merge: merge)
    }
}

// These forms do not wait: the write is queued before the call returns.

extension DocumentReference {
    public func setData<T: Encodable>(
        from value: T, encoder: Firestore.Encoder = Firestore.Encoder(),
        completion: (((any Error)?) -> Void)? = nil
    ) throws { setData(try encoder.written(value), completion: completion) }

    public func setData<T: Encodable>(
        from value: T, merge: Bool, encoder: Firestore.Encoder = Firestore.Encoder(),
        completion: (((any Error)?) -> Void)? = nil
    ) throws { setData(try encoder.written(value), merge: merge, completion: completion) }

    public func setData<T: Encodable>(
        from value: T, mergeFields: [Any],
        encoder: Firestore.Encoder = Firestore.Encoder(),
        completion: (((any Error)?) -> Void)? = nil
    ) throws {
        setData(try encoder.written(value), mergeFields: mergeFields, completion: completion)
    }
}

extension CollectionReference {
    /// Creates a document with a new id, and returns when the server has applied the write.
    @discardableResult
    public func addDocument<T: Encodable>(
        from value: T, encoder: Firestore.Encoder = Firestore.Encoder(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> DocumentReference { try await addDocument(data: try encoder.written(value)) }

    /// Creates a document like the `async` form, without waiting: the write is queued before the
    /// call returns.
    @discardableResult
    public func addDocument<T: Encodable>(
        from value: T, encoder: Firestore.Encoder = Firestore.Encoder(),
        completion: (((any Error)?) -> Void)? = nil
    ) throws -> DocumentReference {
        addDocument(data: try encoder.written(value), completion: completion)
    }
}

extension DocumentSnapshot {
    /// Decodes the document from its stored bytes, without an intermediate dictionary. Costs no
    /// reads.
    ///
    /// - Parameters:
    ///   - type: The type to decode. An optional type is nil for a document that does not exist.
    ///   - serverTimestampBehavior: The value of a server timestamp that the server has not set
    ///     yet.
    ///   - decoder: Converts values to Swift types.
    /// - Throws: `DecodingError` with the path of the field, `valueNotFound` for a document that
    ///   does not exist, or ``FirestoreDecodingError``.
    public func data<T: Decodable>(
        as type: T.Type, with serverTimestampBehavior: ServerTimestampBehavior = .none,
        decoder: Firestore.Decoder = Firestore.Decoder()
    ) throws -> T {
        guard let document else {
            if let optional = type as? any OptionalResult.Type { return optional.none as! T }
            throw DecodingError.valueNotFound(
                type,
                .init(
                    codingPath: [], debugDescription: "There is no document \(documentPath)."))
        }
        return try decoder.decode(
            type, from: document.contents, serverTimestampBehavior, in: reference)
    }
}

private protocol OptionalResult {
    static var none: Self { get }
}

extension Optional: OptionalResult {}

extension WriteBatch {
    @discardableResult
    public func setData<T: Encodable>(
        from value: T, forDocument document: DocumentReference,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws -> WriteBatch { setData(try encoder.written(value), forDocument: document) }

    @discardableResult
    public func setData<T: Encodable>(
        from value: T, forDocument document: DocumentReference, merge: Bool,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws -> WriteBatch {
        setData(try encoder.written(value), forDocument: document, merge: merge)
    }

    @discardableResult
    public func setData<T: Encodable>(
        from value: T, forDocument document: DocumentReference, mergeFields: [Any],
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws -> WriteBatch {
        setData(try encoder.written(value), forDocument: document, mergeFields: mergeFields)
    }
}

extension Transaction {
    @discardableResult
    public func setData<T: Encodable>(
        from value: T, forDocument document: DocumentReference,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws -> Transaction { setData(try encoder.written(value), forDocument: document) }

    @discardableResult
    public func setData<T: Encodable>(
        from value: T, forDocument document: DocumentReference, merge: Bool,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws -> Transaction {
        setData(try encoder.written(value), forDocument: document, merge: merge)
    }

    @discardableResult
    public func setData<T: Encodable>(
        from value: T, forDocument document: DocumentReference, mergeFields: [Any],
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws -> Transaction {
        setData(try encoder.written(value), forDocument: document, mergeFields: mergeFields)
    }
}

extension DocumentReference: DocumentIDWrappable {
    public static func wrap(_ documentReference: DocumentReference) -> Self {
        documentReference as! Self
    }
}

extension DocumentReference: Codable {
    public convenience init(from decoder: any Swift.Decoder) throws {
        throw FirestoreDecodingError.decodingIsNotSupported(
            "A DocumentReference can only be decoded with Firestore.Decoder.")
    }

    public func encode(to encoder: any Swift.Encoder) throws {
        throw FirestoreEncodingError.encodingIsNotSupported(
            "A DocumentReference can only be encoded with Firestore.Encoder.")
    }
}
