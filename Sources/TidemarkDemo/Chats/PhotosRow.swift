import Foundation
import Tidemark
import TidemarkModel
import TidemarkServer

/// Photos are sent in a chat. The app is killed when half of them have arrived, in the middle of
/// the next one, and started again. The app as it was holds the chosen photos in memory, uploads
/// each, and then writes its message.
struct PhotosRow: ScenarioRow {
    private static let count = 10

    /// The size of a photo in bytes.
    private let size: Int
    private let network: DemoNetwork

    /// - Parameter network: The only network of the row: four megabytes take a minute on 3G.
    init(size: Int, on network: DemoNetwork) {
        self.size = size
        self.network = network
    }

    let slug = "photos"
    /// The app sends, so there is nothing to filter by.
    let isFilteredAsBefore = true
    let isUsedBefore = false
    var name: String {
        "\(Self.count) photos of \(size / 1_000) KB, the app killed (-9) among them"
    }
    var bar: Bar {
        Bar(
            showsContentOffline: false,
            most: ["photos lost": 0, "objects too many": 0, "bytes per byte of photo": 1.1])
    }

    private func collection(_ side: Side) -> CollectionPath {
        CollectionPath(unchecked: "chats/photos-\(side.rawValue)/messages")
    }

    var seed: [Mutation] { sides.flatMap { Membership.set(above: collection($0)) } }

    private func caption(_ number: Int) -> String { "Photo \(number)" }

    /// Predicts the most that both processes can read. Each opens the chat, in which at most all
    /// messages are: the mark, a count, the newest items, and the listener, to which each message
    /// then arrives once.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        let doubt = "the app is killed in the middle of its reads"
        // A message has a short caption and the path of its photo: it is a unit.
        let message = ExpectedRow(documentBytes: 1_024, entryBytes: 256)
        let all = Array(repeating: message, count: Self.count)
        var forecast = Forecast()
        for process in ["first", "second"] {
            forecast.addAtMost("\(process) process: the mark", .document(bytes: 1), because: doubt)
            forecast.addAtMost("a count", .count(items: all.count), because: doubt)
            forecast.addAtMost("items: \(all.count)", .query(all), because: doubt)
            forecast.addAtMost("changes: \(all.count)", .query(all), because: doubt)
            forecast.addUpdatesAtMost("live changes", of: all, because: doubt)
        }
        return forecast
    }

    func isPlayed(on network: DemoNetwork) -> Bool { network == self.network }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let folder = visit.place.folder.appendingPathComponent("photos")
        let photos = try write(in: folder)
        let storage = try await PhotoStorage(visit.network.profile)
        let returning = Task {
            guard visit.network == .offline else { return }
            try await visit.untilOnline()
            try await storage.play(.healthy)
        }
        do {
            try await send(side, visit, from: folder, to: storage)
            try await returning.value
            let shown = try await judge(side, visit, photos: photos, in: storage)
            await storage.close()
            return shown
        } catch {
            returning.cancel()
            await storage.close()
            throw error
        }
    }

    /// Writes the photos of the phone's camera.
    private func write(in folder: URL) throws -> [[UInt8]] {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return try (0..<Self.count).map { number in
            var state = UInt64(number + 1)
            let bytes = (0..<size).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
            try Data(bytes).write(to: folder.appendingPathComponent("\(number).jpg"))
            return bytes
        }
    }

    private func send(
        _ side: Side, _ visit: Visit, from folder: URL, to storage: PhotoStorage
    ) async throws {
        let app = PhotosApp(
            side: side, photos: folder, chat: "photos-\(side.rawValue)", storage: storage,
            middle: size / 3, visit: visit, start: try await visit.direct.now())
        let journalled = try await app.run(from: 0, killedAtLeft: Self.count / 2)
        // The photos that the app as it was held in memory are gone. Nothing says so.
        _ = try await app.run(from: side == .after ? journalled : Self.count, killedAtLeft: nil)
        visit.isUpToDate()
        visit.measured(
            "bytes per byte of photo", Double(storage.bytes) / Double(size * Self.count))
    }

    /// Returns the messages whose photos are in Storage with the bytes that were chosen.
    private func judge(
        _ side: Side, _ visit: Visit, photos: [[UInt8]], in storage: PhotoStorage
    ) async throws -> [ShownItem] {
        let objects = try await storage.objects()
        var arrived: [ShownItem] = []
        for document in try await visit.direct.documents(in: collection(side)) {
            guard case .string(let text)? = document.fields[ItemFields.text],
                case .map(let photo)? = document.fields["photo"],
                case .string(let path)? = photo["path"],
                let number = photos.indices.first(where: { caption($0) == text }),
                objects[path] == photos[number]
            else { continue }
            arrived.append(ShownItem(id: text, version: .min))
        }
        visit.measured("photos lost", Double(Self.count - Set(arrived).count))
        visit.measured("objects too many", Double(objects.count - Set(arrived).count))
        return arrived
    }

    /// Returns the messages of all chosen photos.
    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Truth(
            living: Dictionary(
                uniqueKeysWithValues: (0..<Self.count).map { (caption($0), .min) }))
    }
}

/// The app that sends photos, in a separate process, which the demo can kill.
private struct PhotosApp {
    let side: Side
    let photos: URL
    let chat: String
    let storage: PhotoStorage
    /// The number of bytes of the next photo that arrive before the app is killed.
    let middle: Int
    let visit: Visit
    /// The time at the start of the use, on a phone with a correct clock.
    let start: Timestamp
    private let began = ContinuousClock.now

    /// - Parameters:
    ///   - first: The number of photos that earlier processes have journalled.
    ///   - left: The number of photos that are left when the app is killed; nil if it is not.
    /// - Returns: The number of photos that this process has journalled.
    func run(from first: Int, killedAtLeft left: Int?) async throws -> Int {
        let own = [
            "demo", "send-photos", "--side", side.rawValue, "--photos", photos.path,
            "--first", "\(first)", "--chat", chat, "--storage", "\(storage.port)",
            "--now", "\(start.advanced(by: .now - began).seconds)",
        ]
        let app = AppProcess(own + PlaceOptions.arguments(visit))
        var (journalled, isKilled) = (0, false)
        for await words in try app.start() {
            switch words.first {
            case "journalled": journalled += 1
            case "left":
                guard let left, !isKilled, let now = words.last.flatMap(Int.init), now <= left
                else { continue }
                isKilled = true
                await storage.untilMore(middle)
                app.kill()
            default: break
            }
        }
        return journalled
    }
}
