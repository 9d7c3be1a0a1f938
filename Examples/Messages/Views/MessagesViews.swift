#if canImport(SwiftUI)
    import MessagesCore
    import SwiftUI
    import Tidemark
    import TidemarkApp

    /// The list of conversations. A tap opens one.
    public struct ConversationListView: View {
        let app: MessagesApp
        @State private var list: PagedList<Conversation>?

        public init(_ app: MessagesApp) { self.app = app }

        public var body: some View {
            List {
                ForEach(list?.items.reversed() ?? []) { conversation in
                    NavigationLink(value: conversation) { ConversationRow(conversation) }
                        .onAppear { if conversation == list?.items.first { list?.loadMore() } }
                }
                if list?.pages.isLoadingMore == true { ProgressView() }
            }
            .overlay { list.map { PhaseView($0, empty: "Nobody has written yet.") } }
            .navigationTitle("Messages")
            .navigationDestination(for: Conversation.self) { ConversationView($0, in: app) }
            .task { if list == nil { list = try? app.conversations() } }
        }
    }

    struct ConversationRow: View {
        let conversation: Conversation

        init(_ conversation: Conversation) { self.conversation = conversation }

        var body: some View {
            HStack {
                AsyncThumbnail(conversation)
                VStack(alignment: .leading) {
                    Text(conversation.title).font(.headline)
                    Text(conversation.lastText).lineLimit(1).foregroundStyle(.secondary)
                }
                Spacer()
                TimeText(conversation.lastMessageAt)
            }
        }
    }

    /// "5m ago", kept right by one timer for all of them, with no reads.
    struct TimeText: View {
        let time: Timestamp?

        init(_ time: Timestamp?) { self.time = time }

        var body: some View {
            let relative = RelativeTime(calendar: .current)
            Text(time.map { relative.text(for: $0, at: Ticker.shared.now) } ?? "Sending")
                .font(.caption).foregroundStyle(.secondary)
                .task { await Ticker.shared.watch() }
        }
    }

    /// A skeleton, a sentence with its way out, or a word on how old the rows are.
    struct PhaseView<Item: Decodable & Sendable>: View {
        let list: PagedList<Item>
        let empty: LocalizedStringKey

        init(_ list: PagedList<Item>, empty: LocalizedStringKey) {
            self.list = list
            self.empty = empty
        }

        var body: some View {
            switch list.phase {
            case .loading: ProgressView()
            case .fresh where list.items.isEmpty: Text(empty).foregroundStyle(.secondary)
            case .fresh: EmptyView()
            case .stale(let since):
                VStack {
                    Spacer()
                    Label {
                        TimeText(since)
                    } icon: {
                        Image(systemName: "wifi.slash")
                    }
                }
            case .failed(let error):
                ContentUnavailableView {
                    Text(error.message)
                } actions: {
                    Button("Try again") { list.tryAgain() }
                }
            }
        }
    }
#endif
