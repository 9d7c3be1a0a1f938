import ExampleKit
import Foundation
import Synchronization
import Tidemark
import TidemarkFiles
import TidemarkImages

/// The pictures of the visible stamps, decoded at the size at which they are shown. Each is
/// downloaded once and kept on disk. The photo of a stamp that waits is shown from its copy.
final class StampPictures: Sendable {
    private enum Source {
        case request(PictureRequest)
        /// The decoded copy of a photo that is not sent yet.
        case copy(TidemarkImages.Picture)
    }

    private struct State {
        var loads: [String: Task<Void, Never>] = [:]
        /// The loaded photos, by their stamps.
        var photos: [String: Source] = [:]
    }

    private static let size = PictureSize(width: 112, height: 112)

    private let pipeline: ImagePipeline
    private let address: String?
    private let photos: AppPhotos?
    private let stamps: CollectionReference
    private let state = Mutex(State())

    /// - Parameters:
    ///   - folder: The folder of the pictures, used by this app alone.
    ///   - address: The part of a picture's address before its name; nil if there are no pictures.
    ///   - photos: The photos of added stamps; nil if there are none.
    ///   - stamps: The collection of the stamps.
    /// - Throws: The file system's error.
    init(
        folder: String, address: String?, photos: AppPhotos?, of stamps: CollectionReference
    ) throws {
        pipeline = try ImagePipeline(
            folder: URL(fileURLWithPath: folder),
            environment: photos?.environment ?? ImageEnvironment())
        self.address = address
        self.photos = photos
        self.stamps = stamps
    }

    private func request(_ stamp: Stamp) -> PictureRequest? {
        guard let address, let name = stamp.picture else { return nil }
        return URL(string: "\(address)/\(name)").map { PictureRequest($0, size: Self.size) }
    }

    /// Returns the picture of a row; nil while it is not loaded. Never waits.
    func picture(of line: StampsModel.Line) -> TidemarkImages.Picture? {
        if let request = request(line.stamp) { return pipeline.cached(request) }
        switch state.withLock({ $0.photos[line.id] }) {
        case .request(let request): return pipeline.cached(request)
        case .copy(let picture): return picture
        case nil: return nil
        }
    }

    /// Loads the missing pictures. A picture that failed is tried again at the next call.
    ///
    /// - Parameter loaded: Receives the id of each row whose picture was loaded.
    func load(
        _ lines: some Collection<StampsModel.Line>,
        _ loaded: @escaping @Sendable (_ id: String) -> Void
    ) {
        state.withLock { state in
            for line in lines where state.loads[line.id] == nil && line.hasPicture {
                state.loads[line.id] = Task { [self] in
                    do {
                        try await load(line)
                        loaded(line.id)
                    } catch { self.state.withLock { $0.loads[line.id] = nil } }
                }
            }
        }
    }

    private func load(_ line: StampsModel.Line) async throws {
        if let request = request(line.stamp) {
            _ = try await pipeline.picture(request)
            return
        }
        let source: Source
        switch await photos?.place(
            of: Paths.photo, in: stamps.document(line.id), path: line.stamp.photo?.path)
        {
        case .onPhone(let copy):
            guard let picture = await AppPhotos.decode(copy, size: Self.size) else {
                throw PictureError.notFound
            }
            source = .copy(picture)
        case .inStorage(let object):
            let request = PictureRequest(object, size: Self.size)
            _ = try await pipeline.picture(request)
            source = .request(request)
        case nil: throw PictureError.notFound
        }
        state.withLock { state in
            // Photos of rows that are shown no longer are loaded again when they return.
            if state.photos.count >= Paths.window {
                for id in state.photos.keys { state.loads[id] = nil }
                state.photos = [:]
            }
            state.photos[line.id] = source
        }
    }

    func close() {
        for load in state.withLock({ Array($0.loads.values) }) { load.cancel() }
    }
}
