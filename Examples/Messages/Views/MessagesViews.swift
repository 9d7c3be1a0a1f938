#if canImport(SwiftUI)
    import Foundation
    import MessagesCore
    import SwiftUI
    import Tidemark
    import TidemarkApp
    import TidemarkImages

    /// Shows the conversations. A tap opens one.
    struct ConversationListView: View {
        let app: MessagesApp
        @State private var list: PagedList<Conversation>?

        init(_ app: MessagesApp) { self.app = app }

        var body: some View {
            List {
                ForEach(list?.items.reversed() ?? []) { conversation in
                    NavigationLink(value: conversation) { ConversationRow(conversation) }
                }
                if let list, list.hasMore {
                    ProgressView().task(id: list.items.count) { list.loadMore() }
                }
            }
            .overlay { if let list { PhaseView(list, empty: "Nobody has written yet.") } }
            .navigationTitle("Messages")
            .navigationDestination(for: Conversation.self) { ConversationView($0, in: app) }
            .task { if list == nil { list = try? app.conversations() } }
        }
    }

    struct ConversationRow: View {
        let conversation: Conversation

        init(_ conversation: Conversation) { self.conversation = conversation }

        var body: some View {
            let side = CGFloat(Thumbnails.side)
            HStack {
                TidemarkImage(url: conversation.picture.flatMap(URL.init(string:))) { _ in
                    Circle().fill(.quaternary)
                }
                .frame(width: side, height: side).clipShape(.circle)
                VStack(alignment: .leading) {
                    Text(conversation.title).font(.headline)
                    Text(conversation.lastText).lineLimit(1).foregroundStyle(.secondary)
                }
                Spacer()
                TimeText(conversation.lastMessageAt)
            }
        }
    }

    /// Shows a relative time such as "5m ago". One timer updates all of them, without reads.
    struct TimeText: View {
        let time: Timestamp?
        let otherwise: String

        init(_ time: Timestamp?, otherwise: String = "Sending") {
            self.time = time
            self.otherwise = otherwise
        }

        var body: some View {
            let relative = RelativeTime(calendar: .current)
            Text(time.map { relative.text(for: $0, at: Ticker.shared.now) } ?? otherwise)
                .font(.caption).foregroundStyle(.secondary)
                .task { await Ticker.shared.watch() }
        }
    }

    /// Shows a spinner, an error with a button to try again, or the age of the rows.
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
                        TimeText(since, otherwise: "Not confirmed yet")
                    } icon: {
                        Image(systemName: "clock")
                    }
                    .padding(8).background(.bar, in: .rect(cornerRadius: 8))
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
