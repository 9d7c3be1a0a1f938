#if canImport(SwiftUI)
    public import SwiftUI

    /// The items of a feed, newest first, from the device first, and kept up to date while the view
    /// exists.
    ///
    /// The projected value is a ``FeedModel``, with everything beyond the items: the freshness, the
    /// number of unread items, and ``FeedModel/loadMore(_:)``. The app creates the feed once and
    /// passes it to the view. A new feed shows other items.
    @MainActor @propertyWrapper
    public struct FeedItems<Item: Decodable & Sendable>: DynamicProperty {
        @State private var kept = KeptModel<ObjectIdentifier, FeedModel<Item>>()
        private let feed: TypedFeed<Item>
        private let isLive: Bool
        private let consumesWhatIsShown: Bool

        /// - Parameters:
        ///   - feed: The feed to show.
        ///   - isLive: True to listen. If false, only ``FeedModel/refresh()`` updates the feed.
        ///   - consumesWhatIsShown: True if shown items count as seen by the user.
        public init(
            _ feed: TypedFeed<Item>, isLive: Bool = true, consumesWhatIsShown: Bool = false
        ) {
            self.feed = feed
            self.isLive = isLive
            self.consumesWhatIsShown = consumesWhatIsShown
        }

        /// Shows a feed without a type, such as the feeds of a ``TidemarkStack``.
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
