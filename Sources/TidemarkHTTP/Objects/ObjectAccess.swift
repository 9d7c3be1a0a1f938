import TidemarkObjects

/// A request that needs permission.
struct ObjectAccess: Sendable {
    /// The methods of security rules. Every upload is a `create`, also over an existing object.
    enum Method: String, Sendable {
        case get, list, create, update, delete
    }

    let method: Method
    let bucket: String
    /// The object's name; the prefix of a list.
    let name: String
    let caller: ObjectCaller
    /// The stored object; nil if it does not exist, and for a list.
    var present: StoredObject?
    /// The object after the request; nil for reads and deletes.
    var new: StoredObject?
    /// True at the start of an upload, whose bytes are not known. It is judged again at its end.
    var isEarly = false
}

/// Decides whether a caller may access an object.
protocol ObjectJudge: Sendable {
    /// - Throws: ``ObjectRefusal`` with status 403.
    func judge(_ access: ObjectAccess) async throws(ObjectRefusal)
}

/// Asks the judge about the calls of users. Without a judge, and for administrators, every call is
/// allowed.
struct ObjectPermissions: Sendable {
    let judge: (any ObjectJudge)?
    /// Returns the object of a path as it is now.
    let present: @Sendable (ObjectPath) async throws(ObjectRefusal) -> StoredObject?

    private func judge(for caller: ObjectCaller) -> (any ObjectJudge)? {
        caller.isAdministrator ? nil : judge
    }

    /// Judges a read, a change or a delete of an object. The rules run before its existence is
    /// checked, so a caller without rights learns nothing about it.
    ///
    /// - Parameter change: Returns the object after the request; nil for reads and deletes.
    /// - Returns: The judged version; nil if nothing had to be judged.
    func judge(
        _ method: ObjectAccess.Method, _ path: ObjectPath, by caller: ObjectCaller,
        isEarly: Bool = false, change: (StoredObject?) -> StoredObject? = { _ in nil }
    ) async throws(ObjectRefusal) -> JudgedVersion? {
        guard let judge = judge(for: caller) else { return nil }
        let object = try await present(path)
        try await judge.judge(
            ObjectAccess(
                method: method, bucket: path.bucket, name: path.name, caller: caller,
                present: object, new: change(object), isEarly: isEarly))
        return JudgedVersion(object?.version)
    }

    func judgeList(
        bucket: String, prefix: String, by caller: ObjectCaller
    ) async throws(ObjectRefusal) {
        try await judge(for: caller)?.judge(
            ObjectAccess(method: .list, bucket: bucket, name: prefix, caller: caller))
    }

    /// Judges an upload, at its start or at its end.
    func judge(
        _ plan: UploadPlan, _ contents: ObjectContents, isEarly: Bool = false
    ) async throws(ObjectRefusal) -> JudgedVersion? {
        try await judge(.create, plan.path, by: plan.caller, isEarly: isEarly) { _ in
            StoredObject(
                path: plan.path, version: ObjectVersion(generation: 0, metageneration: 1),
                blob: .none, contents: contents, createdAt: 0, updatedAt: 0, fields: plan.fields,
                tokens: plan.tokens, uploader: plan.caller.userID)
        }
    }
}
