// tidemark:ignore-file server-source-at-launch the app as it was: lint finds what it did

public import ExampleKit
import Foundation
import Synchronization
import Tidemark
import TidemarkApp
import TidemarkFiles
import TidemarkImages

/// The old app. It checks the connection in its initializer by a read from the server, and
/// everything else waits for the check. If the check fails, the app continues.
///
/// It has a cache on the device, as the original app had, and reads its feed from the default
/// source. A photo is held in memory until it is uploaded, and its stamp is written after it.
public final class StampsBefore: PhoneApp {
    /// The maximum time that a user waits before ending the app.
    static let patience = Duration.seconds(30)
    /// The time that the check waited in the original app if no server answered.
    private static let checkPatience = Duration.seconds(24)
    /// A check that fails within this time was refused. After a later failure, the app checks
    /// again.
    private static let refusedWithin = Duration.seconds(5)

    private let phone: PhoneEnvironment
    private let stack: TidemarkStack
    private let shown: ScreenModel<StampsModel>
    private let work = Mutex<Task<Void, Never>?>(nil)
    private let usersRead = Mutex(0)
    private let pictures = Mutex<[String: Task<Void, Never>]>([:])
    private let files: KeptPictures<[UInt8]>
    private let storage: Storage?
    private let chosenPhotos = Mutex(0)

    public var screens: AsyncStream<Screen> { shown.screens }

    public init(_ phone: PhoneEnvironment) throws {
        self.phone = phone
        var model = StampsModel()
        model.canAdd = phone.settings.storage != nil
        shown = ScreenModel(model, now: phone.now) { $0.screen(now: $1) }
        let stack = try TidemarkStack(StampsAfter.settings(phone.settings))
        self.stack = stack
        storage = phone.settings.storage.map { Storage(stack.firestore, FileSettings($0)) }
        files = try KeptPictures(
            folder: URL(fileURLWithPath: phone.settings.folder + "/kept-pictures"),
            download: { try await Self.download($0) }, make: { ($0, $0.count) })
        begin { await $0.launch() }
    }

    private func begin(_ body: @escaping @Sendable (StampsBefore) async -> Void) {
        let task = Task { [weak self] in
            guard let self else { return }
            await body(self)
        }
        work.withLock { old in
            old?.cancel()
            old = task
        }
    }

    private func launch() async {
        guard case .signedIn(let user) = await stack.identity.load() else {
            return shown.change { $0.place = .signIn }
        }
        let users = stack.firestore.collection(Paths.users)
        guard phone.settings.diagnoses else { return await read(user) }
        await check(users)
        await read(user)
    }

    /// Waits until the server has answered or refused. This client gives up a silent connection
    /// after ten seconds, but the original app waited 18 to 24 s, so the check repeats.
    private func check(_ users: CollectionReference) async {
        let start = ContinuousClock.now
        while !Task.isCancelled {
            let left = start + Self.checkPatience - .now
            let answer = try? await users.limit(to: 1).getDocuments(source: .server, within: left)
            let waited = ContinuousClock.now - start
            if answer != nil || waited < Self.refusedWithin || waited >= Self.checkPatience {
                return
            }
            try? await Task.sleep(for: .milliseconds(250))
        }
    }

    /// Reads the profile, then the feed, then all users with more stamps.
    private func read(_ user: UserID) async {
        let users = stack.firestore.collection(Paths.users)
        let profile = try? await users.document(user.text).getDocument()
        let total = (try? profile?.data(as: Collector.self))?.totalStamps ?? 0
        let stamps = try? await stack.firestore.collection(Paths.stamps)
            .order(by: Paths.created, descending: true).limit(to: Paths.window).getDocuments()
        if Task.isCancelled { return }
        shown.change { model in
            model.place = .stamps
            model.name = (try? profile?.data(as: Collector.self))?.name
            model.profile = profile?.exists == true ? .known("\(total)", isFresh: true) : .unknown
            model.lines = (stamps?.documents ?? []).compactMap { document in
                (try? document.data(as: Stamp.self)).map {
                    StampsModel.Line(id: document.documentID, stamp: $0)
                }
            }
            // The screen does not say whether the data came from the cache.
            model.state =
                stamps.map { $0.isEmpty ? .empty("No stamps yet.") : .quiet }
                ?? .failed(reason: "Something went wrong.", wayOut: "refresh")
        }
        loadPictures()
        let above = try? await users.whereField(Paths.total, isGreaterThan: total)
            .getDocuments(source: .server, within: Self.patience)
        if Task.isCancelled { return }
        if let above { usersRead.withLock { $0 = above.count } }
        shown.change { model in
            model.rank = above.map { .known("\($0.count + 1)", isFresh: true) } ?? .unknown
        }
    }

    /// Loads each whole picture once, and keeps it in memory and on disk.
    private func loadPictures() {
        guard let address = phone.settings.pictures else { return }
        for line in shown.value.lines.prefix(Paths.onScreen) {
            guard let name = line.stamp.picture else { continue }
            pictures.withLock { pictures in
                if pictures[line.id] != nil { return }
                pictures[line.id] = Task { [weak self] in
                    let whole = try? await self?.files.picture("\(address)/\(name)")
                    if whole != nil { self?.shown.change { $0.pictures.insert(line.id) } }
                    self?.pictures.withLock { $0[line.id] = nil }
                }
            }
        }
    }

    private static func download(_ address: String) async throws -> [UInt8] {
        let file = Mutex<[UInt8]>([])
        try await HTTPPictureTransport().get(PictureGet(address: address)) { answer in
            switch answer {
            case .head(let status, _):
                if status != 200 { throw PictureError.notFound }
            case .body(let part): file.withLock { $0 += part }
            }
        }
        return file.withLock { $0 }
    }

    // MARK: User actions

    public func tap(_ id: String, _ text: String) async {
        switch id {
        case "signIn":
            let user = phone.settings.user
            begin { app in
                do throws(AccountError) {
                    let id = try await app.stack.accounts?.signIn(
                        email: user.email, password: user.password)
                    guard let id else { return }
                    app.shown.change { $0.place = .opening }
                    await app.read(id)
                } catch {
                    app.shown.change { $0.state = .failed(reason: error.message, wayOut: "signIn") }
                }
            }
        case "refresh":
            guard let user = stack.identity.user else { return }
            begin { await $0.read(user) }
        case "add":
            guard let user = stack.identity.user, let (name, country) = Stamp.typed(text)
            else { return }
            begin { await $0.add(name, country, of: user) }
        default: break
        }
    }

    /// Uploads a photo from memory, and then writes its stamp. If the app ends before, both are
    /// lost.
    private func add(_ name: String, _ country: String, of user: UserID) async {
        let number = chosenPhotos.withLock { number in
            defer { number += 1 }
            return number
        }
        guard let storage, let photo = phone.settings.photo(after: number),
            let bytes = try? Data(contentsOf: photo)
        else { return }
        let stamp = stack.firestore.collection(Paths.stamps).document()
        let path = stamp.path + "/photo.jpg"
        var metadata = StorageMetadata()
        metadata.contentType = "image/jpeg"
        metadata.customMetadata = [Paths.owner: user.text]
        do {
            _ = try await storage.reference(withPath: path)
                .putDataAsync(bytes, metadata: metadata)
            try await stamp.setData([
                "name": name, "country": country, Paths.owner: user.text,
                Paths.photo: ["path": path, "size": bytes.count, "type": "image/jpeg", "hash": ""],
                Paths.created: Timestamp(date: phone.now()),
                Paths.updated: FieldValue.serverTimestamp(),
            ])
        } catch { return shown.change { $0.problem = "Something went wrong." } }
        await read(user)
    }

    public func readPlan() async -> [String] {
        let users = usersRead.withLock { $0 }
        return [
            "Ask the server whether it is there, and wait for its answer: 1 read.",
            "Read the profile: 1 read.",
            "Read the newest \(Paths.window) stamps again: \(Paths.window) reads.",
            "Read every user with more stamps: \(users == 0 ? "a read each" : "\(users) reads").",
        ]
    }

    public func close() async {
        work.withLock { $0 }?.cancel()
        for picture in pictures.withLock({ Array($0.values) }) { picture.cancel() }
        await stack.close()
        shown.finish()
    }
}
