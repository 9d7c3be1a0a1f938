import Foundation
import Tidemark

// MARK: - Attaching

extension FileOutbox {
    /// Copies a file for a batch that is about to be journalled.
    func stage(
        _ upload: FileUpload, _ session: UserSession, document: DocumentPath, field: FieldPath
    ) async throws(FirestoreError) -> StagedFile {
        let folder = self.folder(of: session)
        let id = UUID().uuidString.lowercased()
        staging.insert(id)
        let limit = settings.maxFileBytes
        let copied: Result<(String, FileDigest), FileProblem> = await DiskThread.run {
            Result { () throws(FileProblem) in
                let name = try upload.objectName(id: id, of: document)
                try folder.make()
                let digest =
                    switch upload.source {
                    case .file(let path):
                        try FileCopy.make(of: path, to: folder.part(id), limit: limit)
                    case .data(let data): try FileCopy.store(data, at: folder.part(id))
                    }
                do throws(FileProblem) { try folder.sync() } catch {
                    folder.remove(id)
                    throw error
                }
                return (name, digest)
            }
        }
        switch copied {
        case .failure(let problem):
            staging.remove(id)
            throw problem.firestoreError
        case .success((let name, let digest)):
            let facts = FileFacts(
                copy: id, digest: digest, contentType: upload.contentType,
                metadata: upload.metadata)
            let object = ObjectName(bucket: settings.bucket, name: name)
            var file = AttachedFile(
                document: document, field: field, object: object, size: digest.size,
                facts: FileCoding.encode(facts), networkRules: upload.networks.stored)
            do throws(FirestoreError) {
                file.completion = try upload.policy.completion(of: file, facts)
            } catch {
                folder.remove(id)
                staging.remove(id)
                throw error
            }
            return staged(file, facts, in: folder)
        }
    }

    private func staged(
        _ file: AttachedFile, _ facts: FileFacts, in folder: FileFolder
    ) -> StagedFile {
        let copy = facts.copy
        let value = file.completion == nil ? facts.stored(as: file.object) : facts.pending
        return StagedFile(
            file: file, value: value, maxFiles: settings.maxFiles, maxBytes: settings.maxBytes
        ) { [weak self] isJournalled in
            if isJournalled { folder.settle(copy) } else { folder.remove(copy) }
            Task { await self?.stagingEnded(copy) }
        }
    }

    private func stagingEnded(_ id: String) { staging.remove(id) }

    /// Returns the copy of the newest file of a field, while it has one.
    func copy(
        of document: DocumentPath, field: FieldPath
    ) async throws(FirestoreError) -> URL? {
        let session = self.session
        let file: QueuedFile? = try await answer {
            session.file(of: document, field, completion: $0)
        }
        guard let file, let facts = self.facts(file) else { return nil }
        return folder(of: session).copy(facts.copy).map { URL(fileURLWithPath: $0) }
    }
}
