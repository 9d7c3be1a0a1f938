import Foundation
import HTTPTesting
import Synchronization
import Testing
import Tidemark
import TidemarkFiles
import TidemarkHTTP
import TidemarkImages
import TidemarkRules
import TidemarkServer
import TidemarkTesting

/// Pictures with `gs://` addresses, loaded by a pipeline with the user's token from the storage
/// port of `tidemark serve`.
@Suite(.timeLimit(.minutes(2))) struct `Pictures in a bucket` {
    /// The tokens of the signed-in user, with numbers that rise at each refresh.
    private final class Tokens: TokenProvider {
        private let state = Mutex((user: String?.none, number: 0, first: String?.none))

        var user: String? {
            get { state.withLock { $0.user } }
            set { state.withLock { ($0.user, $0.first) = (newValue, nil) } }
        }
        /// The next token, which Storage refuses.
        func giveFirst(_ token: String) { state.withLock { $0.first = token } }
        func refresh() { state.withLock { $0.number += 1 } }

        func token(
            replacing refused: String?,
            receive: @escaping @Sendable (Result<String?, RPCStatus>) -> Void
        ) {
            receive(
                .success(
                    state.withLock { state in
                        if let first = state.first, refused != first { return first }
                        if refused != nil { state.number += 1 }
                        return state.user.map { Self.unsigned($0, state.number) }
                    }))
        }

        private static func unsigned(_ user: String, _ number: Int) -> String {
            let claims = Data(#"{"sub": "\#(user)", "jti": "\#(number)"}"#.utf8)
            let text = claims.base64EncodedString().replacingOccurrences(of: "=", with: "")
            return "e30.\(text)."
        }
    }

    private struct Place: Sendable {
        let firestore: Firestore
        let tokens: Tokens
        let storage: Storage
        let pipeline: ImagePipeline
        let size = PictureSize(width: 8, height: 8)

        func signIn(_ user: String?) async throws {
            tokens.user = user
            try await firestore.changeUser(to: user)
        }

        /// Returns the request of Ann's picture, whose name has all that needs escaping.
        var request: PictureRequest {
            PictureRequest(storage.reference(withPath: "ann/a b%#?é.png").url, size: size)
        }

        func expect(
            _ error: PictureError, _ request: PictureRequest,
            _ location: SourceLocation = #_sourceLocation
        ) async {
            await #expect(throws: error, sourceLocation: location) {
                try await pipeline.picture(request)
            }
        }
    }

    /// Ann's picture is in Storage, and its rules let her alone read it.
    private func play(_ body: @escaping @Sendable (Place) async throws -> Void) async throws {
        let local = try LocalFirestore.start()
        let rules = StorageRules(
            local.server, project: local.projectID, errors: .explained, say: { _ in })
        rules.set(
            try Ruleset(
                """
                rules_version = '2';
                service firebase.storage {
                  match /b/{bucket}/o {
                    match /{user}/{name} { allow read, write: if request.auth.uid == user; }
                    match /stamps/{user}/{name} { allow read, write: if request.auth != null; }
                  }
                }
                """, service: .storage))
        let server = try ObjectsServer(
            dataDirectory: nil, project: local.projectID, gate: nil, rules: rules)
        let folder = try TemporaryFolder()
        try await serve(server) { address, _ in
            let (firestore, tokens) = (try local.firestore(), Tokens())
            var settings = FileSettings(bucket: "bucket")
            settings.address = address
            settings.tokenProvider = tokens
            let storage = Storage(firestore, settings)
            var environment = ImageEnvironment()
            environment.bucket = PictureBucket(
                userID: { storage.userID }, request: storage.downloadRequest(for:of:afterRefusal:))
            let pipeline = try ImagePipeline(
                folder: folder.url.appendingPathComponent("pictures"), environment: environment)
            let place = Place(
                firestore: firestore, tokens: tokens, storage: storage, pipeline: pipeline)
            try await place.signIn("ann")
            let name = "ann/a b%#?é.png"
            try await storage.reference(withPath: name).putDataAsync(try Self.picture())
            try await body(place)
            await firestore.terminate()
        }
        server.close()
        await local.stop()
    }

    private static func picture() throws -> Data {
        let pixels = [UInt8](repeating: 200, count: 4 * 16 * 16)
        return Data(
            try #require(PictureEncoder.png(pixels, PictureSize(width: 16, height: 16))))
    }

    @Test func `a picture is loaded with the user's token, and kept under any token`() async throws
    {
        try await play { place in
            let loaded = try await place.pipeline.picture(place.request)
            #expect(loaded.origin == .network && loaded.picture.size == place.size)
            place.tokens.refresh()
            #expect(place.pipeline.cached(place.request) == loaded.picture)
            // Storage allows no use without a question, and answers that it is still the same.
            let again = try await place.pipeline.picture(place.request)
            #expect(again.picture == loaded.picture)
            #expect(place.pipeline.figures.downloads == 1)
            await place.pipeline.remove(place.request.url)
            #expect(place.pipeline.cached(place.request) == nil)
        }
    }

    @Test func `another user is shown nothing that the first one loaded`() async throws {
        try await play { place in
            _ = try await place.pipeline.picture(place.request)
            for other in ["bob", nil] {
                try await place.signIn(other)
                #expect(place.pipeline.cached(place.request) == nil)
                await place.expect(.refused(status: 403), place.request)
            }
            try await place.signIn("ann")
            #expect(place.pipeline.cached(place.request) != nil, "they are Ann's again")
        }
    }

    @Test func `a refused token is replaced once, and another user's is not sent`() async throws {
        try await play { place in
            place.tokens.giveFirst("old")
            let loaded = try await place.pipeline.picture(place.request)
            #expect(loaded.origin == .network)
            await place.pipeline.remove(place.request.url)
            // The session has changed already, and the client's user has not.
            place.tokens.user = "bob"
            await #expect(throws: StorageError.unauthenticated(serverError: [:])) {
                _ = try await place.storage.downloadRequest(for: place.request.url, of: "ann")
            }
            await #expect(throws: StorageError.unauthenticated(serverError: [:])) {
                _ = try await place.storage.downloadRequest(for: place.request.url, of: "bob")
            }
        }
    }

    /// These are the lines of the article on pictures.
    @Test func `the article loads a stamp`() async throws {
        try await play { place in
            let (storage, size) = (place.storage, place.size)
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("tidemark-pictures-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            try await storage.reference(withPath: "stamps/kim/7.png")
                .putDataAsync(try Self.picture())

            var environment = ImageEnvironment()
            environment.bucket = PictureBucket(
                userID: { storage.userID }, request: storage.downloadRequest(for:of:afterRefusal:))
            let pipeline = try ImagePipeline(folder: folder, environment: environment)
            let stamp = storage.reference(withPath: "stamps/kim/7.png")
            let picture = try await pipeline.picture(PictureRequest(stamp.url, size: size))
            #expect(picture.origin == .network)
        }
    }

    @Test func `only objects of the bucket are loaded`() async throws {
        try await play { place in
            let other = try #require(URL(string: "gs://other/ann/a.png"))
            await place.expect(.badURL, PictureRequest(other, size: place.size))
            let root = place.storage.reference().url
            await place.expect(.badURL, PictureRequest(root, size: place.size))
            let missing = place.storage.reference(withPath: "ann/none.png").url
            await place.expect(.notFound, PictureRequest(missing, size: place.size))
            let without = try ImagePipeline(
                folder: FileManager.default.temporaryDirectory
                    .appendingPathComponent("tidemark-pictures-\(UUID().uuidString)"))
            await #expect(throws: PictureError.badURL) {
                try await without.picture(place.request)
            }
        }
    }
}
