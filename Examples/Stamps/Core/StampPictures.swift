import Foundation
import Synchronization
import TidemarkImages

/// The pictures of the stamps on the screen, decoded at the size of their place: each is downloaded once,
/// and kept on disk.
final class StampPictures: Sendable {
    private static let size = PictureSize(width: 112, height: 112)

    private let pipeline: ImagePipeline
    private let address: String
    private let loads = Mutex<[String: Task<Void, Never>]>([:])

    /// - Parameters:
    ///   - folder: Where they are kept, of this app alone.
    ///   - address: What stands before the name of a picture.
    /// - Throws: The file system's error.
    init(folder: String, address: String) throws {
        pipeline = try ImagePipeline(folder: URL(fileURLWithPath: folder))
        self.address = address
    }

    private func request(_ stamp: Stamp) -> PictureRequest? {
        stamp.picture.flatMap { URL(string: "\(address)/\($0)") }
            .map { PictureRequest($0, size: Self.size) }
    }

    /// The picture of a row, once it is there. Never waits.
    func picture(of stamp: Stamp) -> Picture? {
        request(stamp).flatMap(pipeline.cached)
    }

    /// Loads those that are not there yet. One that could not be had is asked for again the next time.
    ///
    /// - Parameter loaded: Gets the id of the row whose picture is there.
    func load(
        _ lines: some Collection<StampsModel.Line>,
        _ loaded: @escaping @Sendable (_ id: String) -> Void
    ) {
        loads.withLock { loads in
            for line in lines where loads[line.id] == nil {
                guard let request = request(line.stamp) else { continue }
                loads[line.id] = Task { [self] in
                    do {
                        _ = try await pipeline.picture(request)
                        loaded(line.id)
                    } catch { self.loads.withLock { $0[line.id] = nil } }
                }
            }
        }
    }

    func close() { for load in loads.withLock({ Array($0.values) }) { load.cancel() } }
}
