// What stands for a picture's id here: the package's own is a digest, for which the check has no library.
struct PictureID: Hashable, Sendable {
    let address: String
    let version: String?
}

struct SizedID: Hashable, Sendable {
    let id: PictureID
    let size: PictureSize
    let mode: PictureFit
}
