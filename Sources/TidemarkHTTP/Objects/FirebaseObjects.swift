import Foundation
import TidemarkModel
import TidemarkObjects

/// Answers one request of Firebase's API, `/v0/b/BUCKET/o`.
struct FirebaseObjects: Sendable {
    let server: ObjectsServer
    let request: ObjectsRequest
    let bucket: String

    /// - Parameter name: The object's name in the path; nil for a path of the bucket's objects.
    func answer(name: String?) async throws(ObjectRefusal) -> ObjectsAnswer {
        if let id = request.query["upload_id"] {
            return try await FirebaseUploads(api: self).answer(upload: id)
        }
        switch request.method {
        case "GET", "HEAD":
            guard let name else { return try await list() }
            return try await get(try path(name))
        case "POST", "PUT":
            if let name, request.method == "POST", isTokenCall {
                return try await changeTokens(try path(name))
            }
            return try await FirebaseUploads(api: self).start(name: name)
        case "PATCH":
            guard let name else { break }
            return try await patch(try path(name))
        case "DELETE":
            guard let name else { break }
            return try await delete(try path(name))
        default: break
        }
        throw ObjectRefusal(405, reason: "methodNotAllowed", message: "Method Not Allowed")
    }

    func path(_ name: String) throws(ObjectRefusal) -> ObjectPath {
        try ObjectPath(bucket: bucket, name: name)
    }

    func caller() async throws(ObjectRefusal) -> ObjectCaller {
        try await server.callers.caller(request.authorization)
    }

    // MARK: Reads

    private func get(_ path: ObjectPath) async throws(ObjectRefusal) -> ObjectsAnswer {
        let isMedia = request.query["alt"] == "media"
        // A download token replaces the caller's rights, also for the metadata.
        if let token = request.query["token"], !token.isEmpty {
            let answer = try await read(path, isMedia: isMedia) { object in
                object.tokens.contains { AccessToken($0)?.matches(token) == true }
            }
            if let answer { return answer }
        }
        _ = try await server.access.judge(.get, path, by: try await caller())
        guard let answer = try await read(path, isMedia: isMedia) else { throw .notFound(path) }
        return answer
    }

    /// - Parameter isAllowed: Decides about the object as it is read.
    /// - Returns: Nil if the read is not allowed, or if there is no such object.
    private func read(
        _ path: ObjectPath, isMedia: Bool,
        if isAllowed: @escaping @Sendable (StoredObject) -> Bool = { _ in true }
    ) async throws(ObjectRefusal) -> ObjectsAnswer? {
        let found = try await server.onCore { (core) throws(ObjectRefusal) -> OpenedObject? in
            // The file is opened in the same turn, so that a new upload cannot remove it.
            guard let object = try core.objectIfExists(path), isAllowed(object) else {
                return nil
            }
            return try OpenedObject(object, in: core.blobs, opens: isMedia)
        }
        guard let found else { return nil }
        return isMedia
            ? try ObjectDownload(request: request).answer(found)
            : .json(ObjectJSON.firebase(found.object)).adding("ETag", "\"\(found.object.etag)\"")
    }

    private func list() async throws(ObjectRefusal) -> ObjectsAnswer {
        let caller = try await caller()
        let prefix = request.query["prefix"] ?? ""
        if !prefix.isEmpty, !prefix.hasSuffix("/") {
            throw .invalid(
                "The prefix parameter is required to be empty or ends with a single / character.")
        }
        try await server.access.judgeList(bucket: bucket, prefix: prefix, by: caller)
        let listing = try ObjectListing(request.query, bucket: bucket)
        let page = try await server.onCore { (core) throws(ObjectRefusal) in
            try core.list(listing)
        }
        return .json(ObjectJSON.firebase(page, token: page.next?.token))
    }

    // MARK: Changes

    private func patch(_ path: ObjectPath) async throws(ObjectRefusal) -> ObjectsAnswer {
        let caller = try await caller()
        let patch = try ObjectForm(try await request.collected()).patch()
        let judged = try await server.access.judge(.update, path, by: caller) { present in
            present?.applying(patch)
        }
        let object = try await server.onCore { (core) throws(ObjectRefusal) in
            try core.patch(path, patch, judged: judged)
        }
        return .json(ObjectJSON.firebase(object))
    }

    private func delete(_ path: ObjectPath) async throws(ObjectRefusal) -> ObjectsAnswer {
        let caller = try await caller()
        let judged = try await server.access.judge(.delete, path, by: caller)
        try await server.onCore { (core) throws(ObjectRefusal) in
            try core.delete(path, judged: judged)
        }
        return ObjectsAnswer(status: 204)
    }

    // MARK: Download tokens

    private var isTokenCall: Bool {
        request.query["create_token"] != nil || request.query["delete_token"] != nil
    }

    private func changeTokens(_ path: ObjectPath) async throws(ObjectRefusal) -> ObjectsAnswer {
        guard try await caller().isAdministrator else {
            throw .forbidden("Missing admin credentials.")
        }
        let (created, deleted) = (request.query["create_token"], request.query["delete_token"])
        if let created, created != "true" {
            throw .invalid("The only supported value of create_token is true.")
        }
        let object = try await server.onCore { (core) throws(ObjectRefusal) -> StoredObject in
            var tokens = try core.object(path).tokens
            if created != nil { tokens.append(Self.newToken()) }
            if let deleted {
                guard tokens.contains(deleted) else { return try core.object(path) }
                tokens.removeAll { $0 == deleted }
            }
            if tokens.isEmpty { tokens = [Self.newToken()] }
            var patch = ObjectPatch()
            patch.tokens = tokens
            return try core.patch(path, patch)
        }
        return .json(ObjectJSON.firebase(object))
    }

    static func newToken() -> String { UUID().uuidString.lowercased() }
}

extension ObjectListing {
    /// - Throws: ``ObjectRefusal`` with status 400 for an invalid parameter.
    init(_ query: ObjectsQuery, bucket: String) throws(ObjectRefusal) {
        self.init(bucket: bucket)
        prefix = query["prefix"] ?? ""
        if let delimiter = query["delimiter"], !delimiter.isEmpty { self.delimiter = delimiter }
        if let start = query["startOffset"], !start.isEmpty { startOffset = start }
        if let end = query["endOffset"], !end.isEmpty { endOffset = end }
        includesTrailingDelimiter = query["includeTrailingDelimiter"]?.lowercased() == "true"
        if let most = try query.number("maxResults") {
            guard most >= 0 else { throw .invalid("maxResults must not be negative.") }
            if most > 0 { limit = Int(min(most, Int64(Self.maxResults))) }
        }
        if let token = query["pageToken"], !token.isEmpty {
            guard let position = ListPosition(token: token) else {
                throw .invalid("pageToken is not a token of this server.")
            }
            self.position = position
        }
    }
}
