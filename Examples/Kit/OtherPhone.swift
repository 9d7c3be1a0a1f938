/// The phone of another person, which has a good network. It shows what arrives there.
public struct OtherPhone: Sendable {
    /// The content of the other phone.
    public struct View: Codable, Equatable, Sendable {
        public var screen: Screen
        /// The number of photos that have arrived with all of their bytes.
        public var photos: Int

        public init(_ screen: Screen, photos: Int) {
            self.screen = screen
            self.photos = photos
        }
    }

    /// The id of the control with which the phone's user sends a photo to the other person.
    public var photoControl: String
    /// Returns the content now and after each change, until the reader leaves.
    public var views: @Sendable (PhoneProject) -> AsyncStream<View>

    public init(
        photoControl: String, views: @escaping @Sendable (PhoneProject) -> AsyncStream<View>
    ) {
        self.photoControl = photoControl
        self.views = views
    }
}
