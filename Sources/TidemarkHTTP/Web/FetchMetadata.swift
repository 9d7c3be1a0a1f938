/// What a browser says of a request by itself: the headers `Sec-Fetch-*` and `Sec-Purpose`. A page cannot
/// set them, and programs send none.
struct FetchMetadata: Hashable, Sendable {
    /// As in `cross-site`.
    var site: String?
    /// As in `navigate`.
    var mode: String?
    /// As in `document`.
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

    /// True if another site's page sends it, and it is not a person who goes from there to here.
    var isOfOtherSite: Bool {
        guard site == "cross-site" else { return false }
        let isVisit = mode == "navigate" && (destination ?? "document") == "document"
        return !isVisit || purpose != nil
    }
}
