#if canImport(SwiftUI)
    import ChatsCore
    import SwiftUI
    import TidemarkApp

    /// Shows a list that is opened rarely: activity, calls, purchases, or the media of a chat.
    struct EntriesView: View {
        let title: LocalizedStringKey
        let open: () throws -> FeedModel<Entry>
        @State private var feed: FeedModel<Entry>?

        init(_ title: LocalizedStringKey, _ open: @escaping () throws -> FeedModel<Entry>) {
            self.title = title
            self.open = open
        }

        var body: some View {
            List {
                ForEach(feed?.items ?? []) { item in
                    VStack(alignment: .leading) {
                        Text(item.value.text)
                        Text(item.value.author).font(.caption).foregroundStyle(.secondary)
                    }
                }
                if let feed, feed.hasMore {
                    ProgressView().task(id: feed.items.count) { try? await feed.loadMore() }
                }
            }
            .overlay {
                if let feed {
                    PhaseView(feed.phase, isEmpty: feed.items.isEmpty, "Nothing yet.") {
                        await feed.refresh()
                    }
                }
            }
            .refreshable { await feed?.refresh() }
            .navigationTitle(title)
            .task { if feed == nil { feed = try? open() } }
        }
    }
#endif
