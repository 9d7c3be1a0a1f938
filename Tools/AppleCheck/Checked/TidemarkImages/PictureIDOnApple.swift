// A replacement of a picture's id, because the package's own is a digest from a library that the
// check does not build.
struct PictureID: Hashable, Sendable {
    let address: String
    let version: String?
}

struct SizedID: Hashable, Sendable {
    let id: PictureID
    let size: PictureSize
    let mode: PictureFit
}
