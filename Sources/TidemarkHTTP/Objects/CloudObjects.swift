import TidemarkModel
import TidemarkObjects

/// Answers one request of Cloud Storage's JSON API, as its client for Python sends it.
struct CloudObjects: Sendable {
    let server: ObjectsServer
    let request: ObjectsRequest

    func answer(_ target: ObjectsTarget) async throws(ObjectRefusal) -> ObjectsAnswer {
        // The id of an upload is the permission to continue it.
        if case .upload(let bucket) = target, let id = request.query["upload_id"] {
            return try await CloudUploads(api: self, bucket: bucket).answer(upload: id)
        }
        try await server.callers.requireAdministrator(request.authorization)
        switch target {
        case .buckets: return try await buckets()
        case .bucket(let name): return try await bucket(name)
        case .objects(let bucket): return try await list(bucket)
        case .object(let bucket, let name):
            return try await object(try ObjectPath(bucket: bucket, name: name))
        case .copy(let source, let target, let isRewrite):
            return try await copy(
                from: try ObjectPath(bucket: source.bucket, name: source.name),
                to: try ObjectPath(bucket: target.bucket, name: target.name),
                isRewrite: isRewrite)
        case .compose(let target):
            let path = try ObjectPath(bucket: target.bucket, name: target.name)
            return try await CloudCompose(api: self).answer(path)
        case .upload(let bucket): return try await CloudUploads(api: self, bucket: bucket).start()
        case .batch: return try await CloudBatch(server: server, request: request).answer()
        case .plain(let bucket, let name):
            return try await plain(try ObjectPath(bucket: bucket, name: name))
        case .server, .firebase: throw notFound
        }
    }

    private var notFound: ObjectRefusal {
        ObjectRefusal(404, reason: "notFound", message: "Not Found")
    }

    private func refuseMethod() -> ObjectRefusal {
        ObjectRefusal(
            501, reason: "notImplemented",
            message: "This server does not implement \(request.method) \(request.path).")
    }

    func resource(_ object: StoredObject) -> ObjectsAnswer {
        .json(ObjectJSON.cloud(object, origin: request.origin)).adding("ETag", object.etag)
    }

    // MARK: Buckets

    private func buckets() async throws(ObjectRefusal) -> ObjectsAnswer {
        switch request.method {
        case "GET":
            let found = try await server.onCore { (core) throws(ObjectRefusal) -> [Bucket] in
                try core.buckets().map { Bucket(name: $0.name, createdAt: $0.createdAt) }
            }
            let names = Set(found.map(\.name))
            let all =
                found
                + server.defaultBuckets.filter { !names.contains($0) }
                .map { Bucket(name: $0, createdAt: 0) }
            return .json(
                .object([
                    "kind": .text("storage#buckets"),
                    "items": .list(JSONList(all.map(json))),
                ]))
        case "POST":
            let form = try ObjectForm(try await request.collected())
            guard let name = try form.text("name"), !name.isEmpty else {
                throw .invalid("The bucket has no name.")
            }
            let createdAt = try await server.onCore { (core) throws(ObjectRefusal) -> Int64 in
                try core.makeBucket(name)
            }
            return .json(json(Bucket(name: name, createdAt: createdAt)))
        default: throw refuseMethod()
        }
    }

    private struct Bucket: Sendable {
        let name: String
        let createdAt: Int64
    }

    private func json(_ bucket: Bucket) -> JSONValue {
        ObjectJSON.bucket(bucket.name, createdAt: bucket.createdAt, origin: request.origin)
    }

    private func bucket(_ name: String) async throws(ObjectRefusal) -> ObjectsAnswer {
        try ObjectPath.check(bucket: name)
        switch request.method {
        case "GET", "HEAD":
            let time = try await server.onCore { (core) throws(ObjectRefusal) -> Int64? in
                try core.bucketTime(name)
            }
            guard let time = time ?? (server.defaultBuckets.contains(name) ? 0 : nil) else {
                throw .noBucket(name)
            }
            return .json(json(Bucket(name: name, createdAt: time)))
        case "DELETE":
            try await server.onCore { (core) throws(ObjectRefusal) in try core.deleteBucket(name) }
            return ObjectsAnswer(status: 204)
        default: throw refuseMethod()
        }
    }

    // MARK: Objects

    private func list(_ bucket: String) async throws(ObjectRefusal) -> ObjectsAnswer {
        guard request.method == "GET" else { throw refuseMethod() }
        if request.query["matchGlob"] != nil {
            throw .invalid("This server has no matchGlob: use prefix and delimiter.")
        }
        let listing = try ObjectListing(request.query, bucket: bucket)
        let page = try await server.onCore { (core) throws(ObjectRefusal) -> ObjectPage in
            try core.list(listing)
        }
        return .json(ObjectJSON.cloud(page, token: page.next?.token, origin: request.origin))
    }

    private func object(_ path: ObjectPath) async throws(ObjectRefusal) -> ObjectsAnswer {
        let conditions = try conditions(generation: "generation")
        switch request.method {
        case "GET", "HEAD":
            let isMedia = request.query["alt"] == "media"
            return try await read(path, if: conditions, isMedia: isMedia)
        case "PATCH", "PUT":
            let form = try ObjectForm(try await request.collected())
            let patch = try form.patch(replaces: request.method == "PUT")
            let object = try await server.onCore { (core) throws(ObjectRefusal) -> StoredObject in
                try core.patch(path, patch, if: conditions)
            }
            return resource(object)
        case "DELETE":
            try await server.onCore { (core) throws(ObjectRefusal) in
                try core.delete(path, if: conditions)
            }
            return ObjectsAnswer(status: 204)
        default: throw refuseMethod()
        }
    }

    /// Returns the conditions of the query. A generation in the query names a version, which is a
    /// condition on a server that keeps one version.
    private func conditions(
        generation name: String, prefix: String = "if"
    ) throws(ObjectRefusal) -> NamedVersion {
        NamedVersion(
            conditions: try request.query.conditions(prefix: prefix),
            generation: try request.query.number(name))
    }

    private func read(
        _ path: ObjectPath, if version: NamedVersion, isMedia: Bool
    ) async throws(ObjectRefusal) -> ObjectsAnswer {
        let opened = try await server.onCore { (core) throws(ObjectRefusal) -> OpenedObject in
            // The file is opened in the same turn, so that a new upload cannot remove it.
            let object = try core.object(path, if: version)
            return try OpenedObject(object, in: core.blobs, opens: isMedia)
        }
        return isMedia
            ? try ObjectDownload(request: request).answer(opened) : resource(opened.object)
    }

    /// Answers a request for the plain address of an object, as signed URLs have it. Without a
    /// gate, signatures are not checked, as in an emulator.
    private func plain(_ path: ObjectPath) async throws(ObjectRefusal) -> ObjectsAnswer {
        switch request.method {
        case "GET", "HEAD":
            return try await read(path, if: NamedVersion(), isMedia: true)
        case "PUT":
            let object = try await CloudUploads(api: self, bucket: path.bucket).plain(path)
            return ObjectsAnswer(headers: [("ETag", "\"\(object.etag)\"")])
        case "DELETE":
            try await server.onCore { (core) throws(ObjectRefusal) in try core.delete(path) }
            return ObjectsAnswer(status: 204)
        default: throw refuseMethod()
        }
    }

    // MARK: Copies

    private func copy(
        from source: ObjectPath, to target: ObjectPath, isRewrite: Bool
    ) async throws(ObjectRefusal) -> ObjectsAnswer {
        guard request.method == "POST" else { throw refuseMethod() }
        let form = try ObjectForm(try await request.collected())
        let fields = form.hasFields ? try form.fields() : nil
        let version = try conditions(generation: "sourceGeneration", prefix: "ifSource")
        let conditions = try request.query.conditions()
        let object = try await server.onCore { (core) throws(ObjectRefusal) -> StoredObject in
            try core.copy(
                from: source, if: version, to: target, targetConditions: conditions,
                fields: fields)
        }
        guard isRewrite else { return resource(object) }
        let size = JSONValue.text("\(object.contents.size)")
        return .json(
            .object([
                "kind": .text("storage#rewriteResponse"), "done": .bool(true),
                "totalBytesRewritten": size, "objectSize": size,
                "resource": ObjectJSON.cloud(object, origin: request.origin),
            ]))
    }
}
