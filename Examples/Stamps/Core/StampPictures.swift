import Foundation
import Synchronization
import TidemarkImages

/// The pictures of the visible stamps, decoded at the size at which they are shown. Each is
/// downloaded once and kept on disk.
final class StampPictures: Sendable {
    private static let size = PictureSize(width: 112, height: 112)

    private let pipeline: ImagePipeline
    private let address: String
    private let loads = Mutex<[String: Task<Void, Never>]>([:])

    /// - Parameters:
    ///   - folder: The folder of the pictures, used by this app alone.
    ///   - address: The part of a picture's address before its name.
    /// - Throws: The file system's error.
    init(folder: String, address: String) throws {
        pipeline = try ImagePipeline(folder: URL(fileURLWithPath: folder))
        self.address = address
    }

    private func request(_ stamp: Stamp) -> PictureRequest? {
        stamp.picture.flatMap { URL(string: "\(address)/\($0)") }
            .map { PictureRequest($0, size: Self.size) }
    }

    /// Returns the picture of a row; nil while it is not loaded. Never waits.
    func picture(of stamp: Stamp) -> Picture? {
        request(stamp).flatMap(pipeline.cached)
    }

    /// Loads the missing pictures. A picture that failed is tried again at the next call.
    ///
    /// - Parameter loaded: Receives the id of each row whose picture was loaded.
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
