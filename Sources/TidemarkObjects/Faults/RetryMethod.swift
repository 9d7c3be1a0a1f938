/// A method of Cloud Storage's JSON API. Firebase's calls count as the methods of the same purpose.
package enum RetryMethod: String, Hashable, Sendable, CaseIterable {
    case listBuckets = "storage.buckets.list"
    case insertBucket = "storage.buckets.insert"
    case getBucket = "storage.buckets.get"
    case deleteBucket = "storage.buckets.delete"
    case list = "storage.objects.list"
    case get = "storage.objects.get"
    /// All requests of an upload.
    case insert = "storage.objects.insert"
    case patch = "storage.objects.patch"
    case update = "storage.objects.update"
    case delete = "storage.objects.delete"
    case copy = "storage.objects.copy"
    case rewrite = "storage.objects.rewrite"
    case compose = "storage.objects.compose"

    /// - Throws: ``ObjectRefusal`` with status 400 and a sentence for an unknown name.
    package init(_ name: String) throws(ObjectRefusal) {
        guard let method = Self(rawValue: name) else {
            let known = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("\(name.prefix(100)) is no known method. Known are \(known).")
        }
        self = method
    }

    /// Returns the method of a request; nil if the request has none, as a batch.
    ///
    /// - Parameters:
    ///   - verb: The method of HTTP.
    ///   - isUpload: True if the query has an `upload_id`.
    package init?(_ target: ObjectsTarget, verb: String, isUpload: Bool) {
        switch target {
        case .server, .batch: return nil
        case .firebase, .upload:
            if isUpload {
                self = .insert
                return
            }
        default: break
        }
        guard let method = Self.method(of: target, verb: verb == "HEAD" ? "GET" : verb) else {
            return nil
        }
        self = method
    }

    private static func method(of target: ObjectsTarget, verb: String) -> RetryMethod? {
        switch (target, verb) {
        case (.buckets, "GET"): .listBuckets
        case (.buckets, "POST"): .insertBucket
        case (.bucket, "GET"): .getBucket
        case (.bucket, "DELETE"): .deleteBucket
        case (.objects, "GET"), (.firebase(_, nil), "GET"): .list
        case (.object, "GET"), (.firebase, "GET"), (.plain, "GET"): .get
        case (.object, "PATCH"), (.firebase, "PATCH"): .patch
        case (.object, "PUT"): .update
        case (.object, "DELETE"), (.firebase, "DELETE"), (.plain, "DELETE"): .delete
        case (.upload, _), (.firebase, _), (.plain, _): .insert
        case (.copy(_, _, let isRewrite), "POST"): isRewrite ? .rewrite : .copy
        case (.compose, "POST"): .compose
        default: nil
        }
    }
}
