/// The metadata that a browser itself adds to a request: the headers `Sec-Fetch-*` and
/// `Sec-Purpose`. Pages cannot set them, and programs do not send them.
struct FetchMetadata: Hashable, Sendable {
    /// The site, such as `cross-site`.
    var site: String?
    /// The mode, such as `navigate`.
    var mode: String?
    /// The destination, such as `document`.
    var destination: String?
    var purpose: String?

    init() {}

    /// - Parameter header: The values of a header, by its name in lower case.
    init(_ header: (String) -> [String]) {
        site = header("sec-fetch-site").first
        mode = header("sec-fetch-mode").first
        destination = header("sec-fetch-dest").first
        purpose = header("sec-purpose").first
    }

    /// True if the page shows the answer as a picture, a sound or a film, and cannot read it.
    var isMedia: Bool {
        mode == "no-cors" && ["image", "audio", "video", "track"].contains(destination)
    }

    /// True if a page of another site sends the request, and the request is not a user's navigation
    /// to this server.
    var isOfOtherSite: Bool {
        guard site == "cross-site" else { return false }
        let isVisit = mode == "navigate" && (destination ?? "document") == "document"
        return !isVisit || purpose != nil
    }
}
