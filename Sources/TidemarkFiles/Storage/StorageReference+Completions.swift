import Dispatch
public import Foundation

// These forms do not wait. `completion` is called once, on the main queue. Each form exists with a
// `Result` and with a value and an error, as in FirebaseStorage.

// MARK: - Uploads

extension StorageReference {
    @discardableResult
    public func putData(
        _ uploadData: Data, metadata: StorageMetadata? = nil
    ) -> StorageUploadTask {
        begin { () throws(StorageError) in try upload(uploadData, metadata) }
    }

    @discardableResult
    public func putData(
        _ uploadData: Data, metadata: StorageMetadata? = nil,
        completion: @escaping (Result<StorageMetadata, any Error>) -> Void
    ) -> StorageUploadTask {
        putData(uploadData, metadata: metadata).completing(completion)
    }

    @discardableResult
    public func putData(
        _ uploadData: Data, metadata: StorageMetadata? = nil,
        completion: ((StorageMetadata?, (any Error)?) -> Void)?
    ) -> StorageUploadTask {
        putData(uploadData, metadata: metadata).completing(pair(completion))
    }

    /// Uploads a file, which must not change until the task ends.
    @discardableResult
    public func putFile(from fileURL: URL, metadata: StorageMetadata? = nil) -> StorageUploadTask {
        begin { () async throws(StorageError) in try await upload(fileURL, metadata) }
    }

    @discardableResult
    public func putFile(
        from fileURL: URL, metadata: StorageMetadata? = nil,
        completion: @escaping (Result<StorageMetadata, any Error>) -> Void
    ) -> StorageUploadTask {
        putFile(from: fileURL, metadata: metadata).completing(completion)
    }

    @discardableResult
    public func putFile(
        from fileURL: URL, metadata: StorageMetadata? = nil,
        completion: ((StorageMetadata?, (any Error)?) -> Void)?
    ) -> StorageUploadTask {
        putFile(from: fileURL, metadata: metadata).completing(pair(completion))
    }

    private func begin(
        _ prepare: @escaping @Sendable () async throws(StorageError) -> DirectUpload
    ) -> StorageUploadTask {
        let task = StorageUploadTask(self, prepare)
        task.begin()
        return task
    }
}

extension StorageUploadTask {
    fileprivate func completing(
        _ completion: @escaping (Result<StorageMetadata, any Error>) -> Void
    ) -> StorageUploadTask {
        observe(.success) { completion(.success($0.metadata ?? StorageMetadata())) }
        observe(.failure) { completion(.failure($0.error ?? StorageError.cancelled)) }
        return self
    }
}

// MARK: - Downloads

extension StorageReference {
    @discardableResult
    public func getData(
        maxSize: Int64, completion: @escaping (Result<Data, any Error>) -> Void
    ) -> StorageDownloadTask {
        let completion = MainClosure(call: completion)
        let task = StorageDownloadTask(self) { task throws(StorageError) in
            let result = await finished { () async throws(StorageError) in
                try await data(maxSize: maxSize)
            }
            if case .success(let data) = result {
                task.progressed(Int64(data.count), of: Int64(data.count))
            }
            DispatchQueue.main.async { completion.call(result.mapError { $0 }) }
            _ = try result.get()
        }
        task.begin()
        return task
    }

    @discardableResult
    public func getData(
        maxSize: Int64, completion: @escaping (Data?, (any Error)?) -> Void
    ) -> StorageDownloadTask {
        getData(maxSize: maxSize, completion: pair(completion))
    }

    /// Writes the object to a file, which is complete or not there.
    @discardableResult
    public func write(toFile fileURL: URL) -> StorageDownloadTask {
        let task = StorageDownloadTask(self) { task throws(StorageError) in
            _ = try await writeAsync(toFile: fileURL) { progress in
                guard let progress else { return }
                task.progressed(progress.completedUnitCount, of: progress.totalUnitCount)
            }
        }
        task.begin()
        return task
    }

    @discardableResult
    public func write(
        toFile fileURL: URL, completion: @escaping (Result<URL, any Error>) -> Void
    ) -> StorageDownloadTask {
        let task = write(toFile: fileURL)
        task.observe(.success) { _ in completion(.success(fileURL)) }
        task.observe(.failure) { completion(.failure($0.error ?? StorageError.cancelled)) }
        return task
    }

    @discardableResult
    public func write(
        toFile fileURL: URL, completion: ((URL?, (any Error)?) -> Void)?
    ) -> StorageDownloadTask {
        write(toFile: fileURL, completion: pair(completion))
    }
}

// MARK: - Calls

extension StorageReference {
    public func downloadURL(completion: @escaping (Result<URL, any Error>) -> Void) {
        run(completion) { () async throws(StorageError) in try await downloadURL() }
    }

    public func downloadURL(completion: @escaping (URL?, (any Error)?) -> Void) {
        downloadURL(completion: pair(completion))
    }

    public func getMetadata(completion: @escaping (Result<StorageMetadata, any Error>) -> Void) {
        run(completion) { () async throws(StorageError) in try await getMetadata() }
    }

    public func getMetadata(completion: @escaping (StorageMetadata?, (any Error)?) -> Void) {
        getMetadata(completion: pair(completion))
    }

    public func updateMetadata(
        _ metadata: StorageMetadata,
        completion: @escaping (Result<StorageMetadata, any Error>) -> Void
    ) {
        run(completion) { () async throws(StorageError) in try await updateMetadata(metadata) }
    }

    public func updateMetadata(
        _ metadata: StorageMetadata, completion: ((StorageMetadata?, (any Error)?) -> Void)?
    ) {
        updateMetadata(metadata, completion: pair(completion))
    }

    public func delete(completion: (((any Error)?) -> Void)?) {
        run({ (result: Result<Void, any Error>) in
            if case .failure(let error) = result { completion?(error) } else { completion?(nil) }
        }) { () async throws(StorageError) in try await delete() }
    }

    public func list(
        maxResults: Int64, completion: @escaping (Result<StorageListResult, any Error>) -> Void
    ) {
        run(completion) { () async throws(StorageError) in
            try await list(maxResults: maxResults)
        }
    }

    public func list(
        maxResults: Int64, completion: @escaping (StorageListResult?, (any Error)?) -> Void
    ) {
        list(maxResults: maxResults, completion: pair(completion))
    }

    public func list(
        maxResults: Int64, pageToken: String,
        completion: @escaping (Result<StorageListResult, any Error>) -> Void
    ) {
        run(completion) { () async throws(StorageError) in
            try await list(maxResults: maxResults, pageToken: pageToken)
        }
    }

    public func list(
        maxResults: Int64, pageToken: String,
        completion: @escaping (StorageListResult?, (any Error)?) -> Void
    ) {
        list(
            maxResults: maxResults, pageToken: pageToken,
            completion: pair(completion))
    }

    public func listAll(completion: @escaping (Result<StorageListResult, any Error>) -> Void) {
        run(completion) { () async throws(StorageError) in try await listAll() }
    }

    public func listAll(completion: @escaping (StorageListResult?, (any Error)?) -> Void) {
        listAll(completion: pair(completion))
    }

    private func run<Value: Sendable>(
        _ completion: @escaping (Result<Value, any Error>) -> Void,
        _ body: @escaping @Sendable () async throws(StorageError) -> Value
    ) {
        let completion = MainClosure(call: completion)
        Task {
            let result = await finished(body)
            DispatchQueue.main.async { completion.call(result.mapError { $0 }) }
        }
    }
}

/// Returns the result of a call.
private func finished<Value: Sendable>(
    _ body: @Sendable () async throws(StorageError) -> Value
) async -> Result<Value, StorageError> {
    do throws(StorageError) { return .success(try await body()) } catch { return .failure(error) }
}

/// Returns a closure with a result that calls the closure with a value and an error.
private func pair<Value>(
    _ completion: ((Value?, (any Error)?) -> Void)?
) -> (Result<Value, any Error>) -> Void {
    { result in
        switch result {
        case .success(let value): completion?(value, nil)
        case .failure(let error): completion?(nil, error)
        }
    }
}
