public import Foundation
import TidemarkHTTPClient
import TidemarkResilience
import TidemarkSystem

// MARK: - Objects

extension StorageReference {
    /// Reads an object into memory.
    ///
    /// - Throws: ``StorageError/downloadSizeExceeded(total:maxSize:)`` for a larger object.
    public func data(maxSize: Int64) async throws(StorageError) -> Data {
        let calls = try calls()
        return Data(try await calls.call("GET", query: "?alt=media", limit: maxSize))
    }

    /// Writes an object to a file. The file is complete or not there, and a file at the URL is
    /// replaced. After a broken connection, the download continues behind the bytes that it has.
    ///
    /// Costs a request for each 64 MiB.
    ///
    /// - Parameters:
    ///   - fileURL: The URL of the file. Its folder must exist.
    ///   - onProgress: Receives the numbers of bytes; the total is 0 if Storage does not report it.
    @discardableResult
    public func writeAsync(
        toFile fileURL: URL, onProgress: (@Sendable (Progress?) -> Void)? = nil
    ) async throws(StorageError) -> URL {
        let calls = try calls()
        try await calls.download(to: fileURL.path) { bytes, total in
            onProgress?(.of(bytes, total: total))
        }
        return fileURL
    }

    /// Changes the fields whose values differ from the values that were read. A field that is nil
    /// now is removed.
    ///
    /// - Parameter metadata: Metadata of ``getMetadata()``, or new metadata, whose nil fields stay
    ///   as they are.
    /// - Returns: The metadata after the change.
    @discardableResult
    public func updateMetadata(
        _ metadata: StorageMetadata
    ) async throws(StorageError) -> StorageMetadata {
        let calls = try calls()
        return try calls.metadata(try await calls.call("PATCH", body: metadata.update))
    }

    public func getMetadata() async throws(StorageError) -> StorageMetadata {
        let calls = try calls()
        return try calls.metadata(try await calls.call("GET"))
    }

    /// Returns an address of the object that needs no sign-in.
    public func downloadURL() async throws(StorageError) -> URL {
        let calls = try calls()
        let metadata = try calls.metadata(try await calls.call("GET"))
        guard let token = metadata.downloadTokens.first,
            let url = URL(
                string: calls.address + "?alt=media&token=\(StorageWire.escaped(token))")
        else {
            throw .unknown(message: "The object has no download token.", serverError: [:])
        }
        return url
    }

    public func delete() async throws(StorageError) {
        _ = try await calls().call("DELETE")
    }

    private func calls() throws(StorageError) -> StorageCalls {
        if fullPath.isEmpty {
            throw .invalidArgument(message: "The root of a bucket is no object.")
        }
        return StorageCalls(
            storage, fullPath, address: storage.client.wire.object(bucket, fullPath))
    }
}

// MARK: - Lists

extension StorageReference {
    /// Returns a page of the objects and prefixes below this reference.
    ///
    /// - Parameters:
    ///   - maxResults: The maximum number of objects and prefixes, from 1 to 1,000.
    ///   - pageToken: The token of the page before; nil for the first page.
    public func list(
        maxResults: Int64 = 1_000, pageToken: String? = nil
    ) async throws(StorageError) -> StorageListResult {
        guard (1...1_000).contains(maxResults) else {
            throw .invalidArgument(message: "maxResults is 1 to 1,000.")
        }
        struct Page: Decodable {
            struct Item: Decodable { var name: String }
            var prefixes: [String]?
            var items: [Item]?
            var nextPageToken: String?
        }
        let prefix = fullPath.isEmpty ? "" : fullPath + "/"
        var query = "?prefix=\(StorageWire.escaped(prefix))&delimiter=%2F&maxResults=\(maxResults)"
        if let pageToken { query += "&pageToken=\(StorageWire.escaped(pageToken))" }
        let calls = StorageCalls(
            storage, fullPath, address: storage.client.wire.collection(bucket))
        let body = try await calls.call("GET", query: query)
        guard let page = try? JSONDecoder().decode(Page.self, from: Data(body)) else {
            throw .unknown(message: "The list cannot be read.", serverError: [:])
        }
        return StorageListResult(
            prefixes: (page.prefixes ?? []).map { root().child($0) },
            items: (page.items ?? []).map { root().child($0.name) },
            pageToken: page.nextPageToken)
    }

    /// Returns all objects and folders below the reference, in as many calls as it takes.
    public func listAll() async throws(StorageError) -> StorageListResult {
        var all = StorageListResult(prefixes: [], items: [], pageToken: nil)
        var token: String?
        repeat {
            let page = try await list(pageToken: token)
            all.prefixes += page.prefixes.filter { !all.prefixes.contains($0) }
            all.items += page.items
            token = page.pageToken
        } while token != nil
        return all
    }
}

// MARK: - Uploads

extension StorageReference {
    /// Uploads bytes, and returns when the object is complete and compared.
    ///
    /// - Parameters:
    ///   - uploadData: The bytes of the object.
    ///   - metadata: The metadata of the object; nil for the default of Storage.
    ///   - onProgress: Receives the number of bytes that Storage has confirmed.
    @discardableResult
    public func putDataAsync(
        _ uploadData: Data, metadata: StorageMetadata? = nil,
        onProgress: (@Sendable (Progress?) -> Void)? = nil
    ) async throws(StorageError) -> StorageMetadata {
        try await put(try upload(uploadData, metadata), onProgress: onProgress)
    }

    func upload(
        _ data: Data, _ metadata: StorageMetadata?
    ) throws(StorageError) -> DirectUpload {
        var digest = RunningDigest()
        data.withUnsafeBytes { digest.add($0) }
        let source = DirectUpload.Source(digest: digest.digest) { offset, count in
            data.dropFirst(Int(offset)).prefix(count)
        }
        return try upload(source, metadata ?? StorageMetadata())
    }

    /// Uploads a file, which must not change until the call returns.
    @discardableResult
    public func putFileAsync(
        from fileURL: URL, metadata: StorageMetadata? = nil,
        onProgress: (@Sendable (Progress?) -> Void)? = nil
    ) async throws(StorageError) -> StorageMetadata {
        try await put(try await upload(fileURL, metadata), onProgress: onProgress)
    }

    func upload(
        _ url: URL, _ metadata: StorageMetadata?
    ) async throws(StorageError) -> DirectUpload {
        let path = url.path
        guard let digest = await DiskThread.run({ FileCopy.digest(of: path) }) else {
            throw .invalidArgument(message: "The file cannot be read.")
        }
        let source = DirectUpload.Source(digest: digest) { offset, count in
            await DiskThread.run { FileCopy.read(path, from: offset, count: count) }
        }
        var metadata = metadata ?? StorageMetadata()
        metadata.contentType =
            metadata.contentType ?? ContentTypes.type(ofEnding: url.pathExtension.lowercased())
        return try upload(source, metadata)
    }

    private func upload(
        _ source: DirectUpload.Source, _ metadata: StorageMetadata
    ) throws(StorageError) -> DirectUpload {
        _ = try calls()
        let target = UploadTarget(
            bucket: bucket, name: fullPath, size: source.digest.size, md5: source.digest.md5,
            contentType: metadata.contentType ?? "application/octet-stream",
            metadata: metadata.customMetadata ?? [:], fields: metadata.uploadFields)
        return DirectUpload(target: target, source: source, storage: storage)
    }

    private func put(
        _ upload: DirectUpload, onProgress: (@Sendable (Progress?) -> Void)?
    ) async throws(StorageError) -> StorageMetadata {
        var upload = upload
        let total = upload.target.size
        upload.onProgress = { onProgress?(.of($0, total: total)) }
        do throws(StorageError) { try await upload.run() } catch {
            upload.abandon()
            throw error
        }
        return try await getMetadata()
    }
}

extension Progress {
    fileprivate static func of(_ bytes: Int64, total: Int64) -> Progress {
        let progress = Progress(totalUnitCount: total)
        progress.completedUnitCount = bytes
        return progress
    }
}

/// The calls about one object or list, with retries.
struct StorageCalls: Sendable {
    private let storage: Storage
    private let name: String
    let address: String

    init(_ storage: Storage, _ name: String, address: String) {
        self.storage = storage
        self.name = name
        self.address = address
    }

    func metadata(_ body: [UInt8]) throws(StorageError) -> StorageMetadata {
        if let metadata = StorageMetadata(json: body) { return metadata }
        throw .unknown(message: "The metadata cannot be read.", serverError: [:])
    }

    /// Sends a request until it is answered for good, or the time is over.
    ///
    /// - Parameters:
    ///   - body: The JSON to send; nil for no body.
    ///   - limit: The maximum size of the answer's body in bytes.
    func call(
        _ method: String, query: String = "", body: [UInt8]? = nil, limit: Int64 = 4 << 20
    ) async throws(StorageError) -> [UInt8] {
        try await answered { () async throws(StorageError) in
            try await attempt { () async throws in
                try await storage.client.exchange(
                    method, address + query, body: body, limit: limit)
            }
        }
    }

    /// Writes the object to a file beside `path`, and renames the file when it is complete.
    func download(
        to path: String, onProgress: @escaping @Sendable (Int64, Int64) -> Void
    ) async throws(StorageError) {
        let part = path + ".part"
        do throws(StorageError) {
            let media = try MediaDownload(to: part)
            _ = try await answered(progress: { media.furthest }) {
                () async throws(StorageError) in
                try await attempt { () async throws in
                    try await storage.client.download(
                        address + "?alt=media", into: media, onProgress: onProgress)
                }
            }
        } catch {
            unlink(part)
            throw error
        }
        if rename(part, path) != 0 {
            unlink(part)
            throw .unknown(message: "The file cannot be stored.", serverError: [:])
        }
    }

    /// Repeats a request until it is answered for good, or the time is over.
    ///
    /// - Parameter progress: Returns the number of bytes that have arrived. The time begins again
    ///   with each attempt that brings more.
    private func answered(
        progress: () -> Int64 = { 0 },
        _ attempt: () async throws(StorageError) -> (status: Int, body: [UInt8])?
    ) async throws(StorageError) -> [UInt8] {
        var backoff = Backoff(factor: 2, maximum: .seconds(30))
        var hasRefreshed = false
        let limit = Duration.seconds(storage.maxOperationRetryTime)
        var end = ContinuousClock.now + limit
        var furthest: Int64 = 0
        while true {
            if Task.isCancelled { throw .cancelled }
            let answer = try await attempt()
            switch answer?.status {
            case let status? where (200..<300).contains(status): return answer?.body ?? []
            case 401? where !hasRefreshed:
                hasRefreshed = true
                if await storage.client.tokens.replace() { continue }
                throw error(401, answer?.body ?? [])
            case let status? where !UploadAnswer(status).isPassing:
                throw error(status, answer?.body ?? [])
            default: break
            }
            if progress() > furthest {
                furthest = progress()
                backoff.reset()
                end = ContinuousClock.now + limit
            }
            let delay = backoff.next(jitter: storage.environment.random())
            if ContinuousClock.now + delay > end { throw .retryLimitExceeded }
            _ = try? await storage.environment.clock.sleep(for: max(delay, .milliseconds(50)))
        }
    }

    private func error(_ status: Int, _ body: [UInt8]) -> StorageError {
        StorageError(status: status, bucket: storage.bucket, object: name, body: body)
    }

    /// - Returns: Nil if no answer arrived.
    private func attempt(
        _ body: () async throws -> (status: Int, body: [UInt8])
    ) async throws(StorageError) -> (status: Int, body: [UInt8])? {
        do {
            return try await body()
        } catch let error as StorageError { throw error } catch {
            if Task.isCancelled { throw .cancelled }
            return nil
        }
    }
}
