#if canImport(SwiftUI)
    public import SwiftUI

    /// The items of a feed, newest first, from the device first, and kept up to date while the view is
    /// there.
    ///
    /// The projected value is a ``FeedModel``: what the view does not get from the items alone, as whether
    /// they are fresh, how many are unread, and more of them. The app makes the feed once and hands it to
    /// the view. Another feed than the last one shows other items.
    @MainActor @propertyWrapper
    public struct FeedItems<Item: Decodable & Sendable>: DynamicProperty {
        @State private var kept = KeptModel<ObjectIdentifier, FeedModel<Item>>()
        private let feed: TypedFeed<Item>
        private let isLive: Bool
        private let consumesWhatIsShown: Bool

        /// - Parameters:
        ///   - feed: The feed to show.
        ///   - isLive: Whether to listen. If false, only ``FeedModel/refresh()`` brings it up to date.
        ///   - consumesWhatIsShown: Whether what is shown counts as seen by the user.
        public init(
            _ feed: TypedFeed<Item>, isLive: Bool = true, consumesWhatIsShown: Bool = false
        ) {
            self.feed = feed
            self.isLive = isLive
            self.consumesWhatIsShown = consumesWhatIsShown
        }

        /// As the other one, for a feed that has no type, as those of a ``TidemarkStack``.
        public init(_ feed: Feed, isLive: Bool = true, consumesWhatIsShown: Bool = false) {
            self.init(
                TypedFeed(feed), isLive: isLive, consumesWhatIsShown: consumesWhatIsShown)
        }

        public var wrappedValue: [TypedItem<Item>] { projectedValue.items }

        public var projectedValue: FeedModel<Item> {
            kept.model(of: ObjectIdentifier(feed.feed)) {
                FeedModel(feed, isLive: isLive, consumesWhatIsShown: consumesWhatIsShown)
            }
        }
    }
#endif
