public import Foundation

/// The pictures of the old app, stored as `ImageManager` and Kingfisher store them. A file is
/// downloaded as a whole, by one call for all waiting views, and kept in memory and on disk.
///
/// A picture is decoded at its full size, and an interrupted download starts again from the
/// beginning.
public actor KeptPictures<Kept: Sendable> {
    public enum Origin: String, Sendable { case memory, disk, network }

    /// The maximum number of bytes in memory. Kingfisher uses a fourth of the device's memory; this
    /// is a fourth of 1 GiB.
    public static var mostInMemory: Int { 256 << 20 }

    private let folder: URL
    private let download: @Sendable (String) async throws -> [UInt8]
    private let make: @Sendable ([UInt8]) throws -> (kept: Kept, bytes: Int)
    private var inFlight: [String: Task<(Kept, Int, Origin), any Error>] = [:]
    private var memory: [String: (kept: Kept, bytes: Int, lastUse: Int)] = [:]
    private var bytes = 0
    private var uses = 0

    /// - Parameters:
    ///   - folder: The folder of this app alone. It is created if missing, and its size has no
    ///     limit.
    ///   - download: Returns the whole file at an address.
    ///   - make: Returns the value to keep in memory for a file, and its number of bytes.
    /// - Throws: The file system's error.
    public init(
        folder: URL, download: @escaping @Sendable (String) async throws -> [UInt8],
        make: @escaping @Sendable ([UInt8]) throws -> (kept: Kept, bytes: Int)
    ) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        (self.folder, self.download, self.make) = (folder, download, make)
    }

    /// Returns the picture at an address, and its origin. Cancelling the caller's task does not
    /// stop the download.
    ///
    /// - Throws: The error of `download` or `make`.
    public func picture(_ address: String) async throws -> (kept: Kept, origin: Origin) {
        uses += 1
        if let held = memory[address] {
            memory[address]?.lastUse = uses
            return (held.kept, .memory)
        }
        let loading = inFlight[address] ?? load(address)
        inFlight[address] = loading
        let result = await loading.result
        if inFlight[address] == loading {
            inFlight[address] = nil
            if case .success(let (kept, bytes, _)) = result {
                hold(kept, bytes: bytes, of: address)
            }
        }
        let (kept, _, origin) = try result.get()
        return (kept, origin)
    }

    /// Reads and decodes outside this actor, because each picture can use its own processor.
    private func load(_ address: String) -> Task<(Kept, Int, Origin), any Error> {
        let file = folder.appendingPathComponent(Self.name(of: address))
        return Task.detached { [download, make] in
            if let data = FileManager.default.contents(atPath: file.path) {
                let (kept, bytes) = try make(Array(data))
                return (kept, bytes, .disk)
            }
            let whole = try await download(address)
            try Data(whole).write(to: file, options: .atomic)
            let (kept, bytes) = try make(whole)
            return (kept, bytes, .network)
        }
    }

    private static func name(of address: String) -> String {
        address.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? address
    }

    /// Keeps a picture in memory, and removes the least recently used ones above the limit.
    private func hold(_ kept: Kept, bytes: Int, of address: String) {
        memory[address] = (kept, bytes, uses)
        self.bytes += bytes
        while self.bytes > Self.mostInMemory, memory.count > 1,
            let oldest = memory.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            memory[oldest.key] = nil
            self.bytes -= oldest.value.bytes
        }
    }
}
