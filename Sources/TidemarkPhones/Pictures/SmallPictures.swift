import TidemarkImages

extension PictureServer {
    /// Returns a server of small photographs for a list. Each file has some kilobytes.
    package static func ofSmallPictures() throws -> PictureServer {
        let size = PictureSize(width: 80, height: 60)
        return PictureServer(
            try (1...24).map { seed in
                var generator = PictureGenerator(seed: UInt64(seed))
                guard let file = PictureEncoder.jpeg(generator.photograph(size), size) else {
                    throw PictureError.unsupported("JPEG")
                }
                return file
            })
    }
}
