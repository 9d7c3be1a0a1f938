import TidemarkStore

/// Stores objects: their metadata in SQLite, their bytes in files beside the database.
///
/// The core is synchronous and runs on one thread at a time. Time and random bytes come from its
/// environment. The bytes of uploads are written outside the core, by a ``BlobWriter``.
///
/// An object exists when its row is committed. Its file is complete and synced before that, and is
/// never changed afterwards. A file without a row is removed at the next start. A kill at any
/// moment therefore loses no object whose upload was acknowledged, and shows no incomplete one.
package final class ObjectsCore {
    /// The maximum number of open uploads.
    package static let maxOpenUploads = 10_000
    /// The time for which an upload can be continued, in microseconds: a week.
    package static let uploadLifetime: Int64 = 7 * 86_400_000_000
    /// The maximum number of open uploads without a request at work whose digests are kept in
    /// memory. The digests of others are computed again from their files.
    static let maxKeptDigests = 1_000

    package let blobs: BlobFolder
    let environment: ObjectsEnvironment
    let store: DocumentStore
    /// The uploads with a request at work, or with known digests.
    var live: [[UInt8]: LiveUpload] = [:]

    /// - Parameters:
    ///   - dataDirectory: The folder of the database; nil keeps the metadata in memory.
    ///   - blobs: The folder of the bytes.
    /// - Throws: ``StoreError``, or ``ObjectRefusal`` if the folder cannot be used.
    package init(
        dataDirectory: String?, blobs path: String, environment: ObjectsEnvironment
    ) throws {
        self.environment = environment
        blobs = try BlobFolder(path)
        var location = DocumentStore.Location.memory
        if let dataDirectory {
            let file = dataDirectory + "/tidemark-objects.sqlite"
            try BlobFolder.makePrivate(file, in: dataDirectory)
            location = .file(file)
        }
        store = try DocumentStore(location, migrations: ObjectsSchema.migrations)
        try removeUnusedBlobs()
    }

    package func close() { try? store.close() }

    /// Removes the files that no object and no open upload uses. A kill can leave them.
    private func removeUnusedBlobs() throws {
        try store.read { transaction in
            let table = ObjectTable(transaction: transaction)
            // A file whose use cannot be determined stays.
            blobs.sweep { (try? table.isUsed($0)) ?? true }
        }
    }

    package func newBlob() -> BlobID { BlobID(bytes: environment.randomBytes(16)) }

    // MARK: Transactions

    func read<T>(_ body: (StoreTransaction) throws -> T) throws(ObjectRefusal) -> T {
        do { return try store.read(body) } catch { throw Self.refusal(error) }
    }

    /// Runs a change in one transaction, which is synced to disk when the function returns.
    func write<T>(_ body: (StoreTransaction) throws -> T) throws(ObjectRefusal) -> T {
        do {
            return try store.write(.disk) { transaction in
                let result = try body(transaction)
                try environment.step(.beforeCommit)
                return result
            }
        } catch { throw Self.refusal(error) }
    }

    static func refusal(_ error: any Error) -> ObjectRefusal {
        switch error {
        case let refusal as ObjectRefusal: refusal
        case StoreError.full: .noSpace
        case let error as StoreError: .unavailable(error.message)
        default: .unavailable("\(error)")
        }
    }

    /// Removes the file of a blob that no object has any more.
    func removeIfUnused(_ blob: BlobID?) {
        guard let blob else { return }
        try? environment.step(.afterCommit)
        if (try? read { try ObjectTable(transaction: $0).isUsed(blob) }) == false {
            blobs.remove(blob)
        }
        try? environment.step(.afterRemoval)
    }
}

// MARK: - Objects

extension ObjectsCore {
    /// - Throws: ``ObjectRefusal`` with status 404 if there is no such version, and 412 or 304 if a
    ///   condition does not hold.
    package func object(
        _ path: ObjectPath, if version: NamedVersion = NamedVersion()
    ) throws(ObjectRefusal) -> StoredObject {
        try version.check(try objectIfExists(path), at: path, isRead: true)
    }

    package func objectIfExists(_ path: ObjectPath) throws(ObjectRefusal) -> StoredObject? {
        try read { try ObjectTable(transaction: $0).object(path) }
    }

    /// Makes an object of a blob that is complete and synced.
    ///
    /// - Parameters:
    ///   - judged: The version that was present when the call was allowed. Another version now
    ///     throws ``JudgedVersion/changed``.
    ///   - times: The times of an object of an export.
    /// - Returns: The object.
    package func put(
        _ plan: UploadPlan, blob: BlobID, contents: ObjectContents, judged: JudgedVersion? = nil,
        times: ObjectTimes = ObjectTimes()
    ) throws(ObjectRefusal) -> StoredObject {
        let (object, replaced) = try write { transaction in
            try Self.put(
                plan, blob: blob, contents: contents, judged: judged, times: times,
                now: environment.now(), in: transaction)
        }
        removeIfUnused(replaced)
        return object
    }

    /// - Returns: The object, and the blob of the object that it replaces.
    static func put(
        _ plan: UploadPlan, blob: BlobID, contents: ObjectContents, judged: JudgedVersion?,
        times: ObjectTimes = ObjectTimes(), now: Int64, in transaction: StoreTransaction
    ) throws -> (object: StoredObject, replaced: BlobID?) {
        let table = ObjectTable(transaction: transaction)
        let present = try table.object(plan.path)
        try judged?.check(present?.version)
        try plan.conditions.check(present?.version)
        try plan.expected.check(contents)
        let generation = try table.nextGeneration(now: now)
        let object = StoredObject(
            path: plan.path, version: ObjectVersion(generation: generation, metageneration: 1),
            blob: blob, contents: contents, createdAt: times.created ?? now,
            updatedAt: times.updated ?? now, fields: plan.fields, tokens: plan.tokens,
            uploader: plan.caller.userID)
        try table.write(object)
        try table.addBucket(plan.path.bucket, now: now)
        return (object, present?.blob)
    }

    /// Changes the metadata of an object.
    package func patch(
        _ path: ObjectPath, _ patch: ObjectPatch,
        if version: NamedVersion = NamedVersion(), judged: JudgedVersion? = nil
    ) throws(ObjectRefusal) -> StoredObject {
        try write { transaction in
            let table = ObjectTable(transaction: transaction)
            let present = try table.object(path)
            try judged?.check(present?.version)
            var object = try version.check(present, at: path)
            patch.apply(to: &object.fields)
            try object.fields.check()
            if let tokens = patch.tokens { object.tokens = tokens }
            object.version.metageneration += 1
            object.updatedAt = environment.now()
            try table.write(object)
            return object
        }
    }

    package func delete(
        _ path: ObjectPath, if version: NamedVersion = NamedVersion(),
        judged: JudgedVersion? = nil
    ) throws(ObjectRefusal) {
        let blob = try write { transaction in
            let table = ObjectTable(transaction: transaction)
            let present = try table.object(path)
            try judged?.check(present?.version)
            let object = try version.check(present, at: path)
            try table.remove(path)
            return object.blob
        }
        removeIfUnused(blob)
    }

    /// Copies an object. Both share one file.
    ///
    /// - Parameters:
    ///   - version: The version of the source.
    ///   - targetConditions: The conditions on the object that is replaced.
    ///   - fields: The metadata and tokens of the copy; nil for those of the source.
    package func copy(
        from source: ObjectPath, if version: NamedVersion = NamedVersion(),
        to target: ObjectPath, targetConditions: ObjectConditions = ObjectConditions(),
        fields: (fields: ObjectFields, tokens: [String])? = nil
    ) throws(ObjectRefusal) -> StoredObject {
        let (object, replaced) = try write { transaction in
            let table = ObjectTable(transaction: transaction)
            let present = try version.check(try table.object(source), at: source)
            return try Self.put(
                UploadPlan(
                    path: target, fields: fields?.fields ?? present.fields,
                    tokens: fields?.tokens ?? present.tokens, conditions: targetConditions),
                blob: present.blob, contents: present.contents, judged: nil,
                now: environment.now(), in: transaction)
        }
        if replaced != object.blob { removeIfUnused(replaced) }
        return object
    }
}

/// The version for which a call was allowed. A version that has changed is judged again.
package struct JudgedVersion: Hashable, Sendable {
    package let version: ObjectVersion?

    package init(_ version: ObjectVersion?) { self.version = version }

    /// The refusal with which a caller judges again.
    package static let changed = ObjectRefusal.unavailable(
        "The object was changed at the same time. Try again.")

    func check(_ present: ObjectVersion?) throws(ObjectRefusal) {
        if present != version { throw Self.changed }
    }
}

// MARK: - Buckets

extension ObjectsCore {
    package func buckets() throws(ObjectRefusal) -> [(name: String, createdAt: Int64)] {
        try read { try ObjectTable(transaction: $0).buckets() }
    }

    /// - Returns: The time at which the bucket was made; nil if there is no such bucket.
    package func bucketTime(_ name: String) throws(ObjectRefusal) -> Int64? {
        try read { try ObjectTable(transaction: $0).bucketTime(name) }
    }

    /// - Throws: ``ObjectRefusal`` with status 409 if the bucket exists.
    package func makeBucket(_ name: String) throws(ObjectRefusal) -> Int64 {
        try ObjectPath.check(bucket: name)
        let now = environment.now()
        try write { transaction in
            let table = ObjectTable(transaction: transaction)
            if try table.bucketTime(name) != nil {
                throw ObjectRefusal.conflict(
                    "Your previous request to create the named bucket succeeded and you already own it."
                )
            }
            try table.addBucket(name, now: now)
        }
        return now
    }

    /// - Throws: ``ObjectRefusal`` with status 409 if the bucket has objects.
    package func deleteBucket(_ name: String) throws(ObjectRefusal) {
        try write { transaction in
            let table = ObjectTable(transaction: transaction)
            if try table.bucketTime(name) == nil { throw ObjectRefusal.noBucket(name) }
            if try !table.objects(in: name, from: [], to: nil, limit: 1).isEmpty {
                throw ObjectRefusal.conflict("The bucket you tried to delete is not empty.")
            }
            try table.removeBucket(name)
        }
    }
}
