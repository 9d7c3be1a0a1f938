public import Foundation

/// A request for a picture at a size. Its address is `http`, `https`, or the `gs://` address of an
/// object, which needs ``ImageEnvironment/bucket``.
public struct PictureRequest: Sendable, Hashable {
    public let url: URL
    /// The size of the view, in pixels.
    public let size: PictureSize
    public let mode: PictureFit
    /// The version of the picture, if it is known, as for a profile's picture. Then the server is
    /// never asked whether the picture is still valid.
    public let version: String?
    public var priority: PicturePriority

    private(set) var sized: SizedID
    /// The user whose tokens load an object; nil for a web address, and without a user.
    private(set) var owner: String?
    var id: PictureID { sized.id }
    var address: String { url.absoluteString }
    /// The text that names the picture in the caches. A user's objects have names of their own.
    var key: String { Self.key(address, owner) }

    /// - Precondition: No side of `size` is zero.
    public init(
        _ url: URL, size: PictureSize, mode: PictureFit = .fill, version: String? = nil,
        priority: PicturePriority = .visible
    ) {
        precondition(size.width > 0 && size.height > 0, "nothing is shown in a box without a side")
        self.url = url
        self.size = size
        self.mode = mode
        self.version = version
        self.priority = priority
        let id = PictureID(address: url.absoluteString, version: version)
        sized = SizedID(id: id, size: size, mode: mode)
    }

    /// Returns the same request with another priority.
    public func with(_ priority: PicturePriority) -> PictureRequest {
        var request = self
        request.priority = priority
        return request
    }

    /// No address contains a line's end. The length divides a user's id from the address.
    private static func key(_ address: String, _ owner: String?) -> String {
        owner.map { "\($0.utf8.count)\n\($0)\n\(address)" } ?? address
    }

    /// Returns the request of a user for an object, and other requests as they are.
    func owned(by user: String?) -> PictureRequest {
        guard isObject else { return self }
        var request = self
        request.owner = user
        request.sized = SizedID(
            id: PictureID(address: request.key, version: version), size: size, mode: mode)
        return request
    }

    /// True if the address is an object's in a bucket.
    var isObject: Bool { url.scheme?.lowercased() == "gs" }

    /// True if the address can be loaded: it is `http`, `https` or `gs`, and has a host.
    var isLoadable: Bool {
        guard let scheme = url.scheme?.lowercased(), ["http", "https", "gs"].contains(scheme)
        else { return false }
        return url.host()?.isEmpty == false
    }
}

extension PictureRequest {
    /// Creates the request of a place on the screen, in points; nil without an address, or while
    /// the place has no size.
    init?(_ url: URL?, in place: CGSize, scale: CGFloat, fit: PictureFit, version: String?) {
        // A place without a bound, for example in a list that measures, gets no picture.
        let most = 16_384.0
        let (width, height) = (place.width * scale, place.height * scale)
        guard let url, width > 0, height > 0, width.isFinite, height.isFinite else { return nil }
        self.init(
            url,
            size: PictureSize(
                width: max(1, Int(min(most, width).rounded())),
                height: max(1, Int(min(most, height).rounded()))),
            mode: fit, version: version)
    }
}

/// A picture and its origin.
public struct LoadedPicture: Hashable, Sendable {
    public enum Origin: String, Hashable, Sendable { case memory, disk, network }

    public let picture: Picture
    public let origin: Origin
    /// True if the server can have a newer picture.
    public let isStale: Bool
}
