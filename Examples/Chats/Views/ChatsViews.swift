#if canImport(SwiftUI)
    import ChatsCore
    import SwiftUI
    import TidemarkApp

    /// The chat list with its badges. A tap opens a chat.
    public struct ChatListView: View {
        let app: ChatsApp
        @State private var list: ChatListModel?

        public init(_ app: ChatsApp) { self.app = app }

        public var body: some View {
            List(list?.rows ?? []) { row in
                NavigationLink {
                    ChatView(row.chat, in: app).task { await list?.markSeen(row) }
                } label: {
                    VStack(alignment: .leading) {
                        Text(row.chat.title).font(.headline)
                        Text(row.chat.lastText).lineLimit(1).foregroundStyle(.secondary)
                    }
                }
                .badge(row.unread)
            }
            .overlay {
                list.map {
                    PhaseView($0.phase, isEmpty: $0.rows.isEmpty, "Nobody has written yet.")
                }
            }
            .refreshable { await list?.refresh() }
            .navigationTitle("Chats")
            .toolbar {
                NavigationLink("Notifications") { NoticesView(app) }
                NavigationLink("Search") { SearchView(app) }
            }
            .task { if list == nil { list = try? app.chats() } }
        }
    }

    /// One chat, oldest message first.
    struct ChatView: View {
        let chat: Chat
        let app: ChatsApp
        @State private var model: ChatModel?
        @State private var text = ""

        init(_ chat: Chat, in app: ChatsApp) {
            self.chat = chat
            self.app = app
        }

        var body: some View {
            ScrollView {
                LazyVStack(alignment: .leading) {
                    if model?.messages.hasMore == true {
                        ProgressView().task { await model?.loadMore() }
                    }
                    ForEach(model?.messages.items.reversed() ?? []) { Text($0.value.text) }
                    ForEach(model?.outgoing ?? []) { Text($0.text).opacity(0.6) }
                    if let problem = model?.problem { Text(problem).foregroundStyle(.red) }
                }
            }
            .defaultScrollAnchor(.bottom)
            .overlay {
                model.map {
                    PhaseView($0.messages.phase, isEmpty: $0.messages.items.isEmpty, "Say hello.")
                }
            }
            .safeAreaInset(edge: .bottom) {
                TextField("Message", text: $text).onSubmit {
                    let message = text
                    text = ""
                    Task { await model?.send(message) }
                }
            }
            .navigationTitle(chat.title)
            .toolbar { Button("Clear chat") { Task { await model?.clear() } } }
            .task { if model == nil { model = try? app.chat(chat.id ?? "") } }
        }
    }

    struct NoticesView: View {
        let app: ChatsApp
        @State private var feed: FeedModel<Notice>?

        init(_ app: ChatsApp) { self.app = app }

        var body: some View {
            List(feed?.items ?? []) { Text($0.value.text) }
                .overlay {
                    feed.map { PhaseView($0.phase, isEmpty: $0.items.isEmpty, "Nothing new.") }
                }
                .navigationTitle("Notifications")
                .toolbar { Button("Clear all") { Task { try? await feed?.clear() } } }
                .task { if feed == nil { feed = try? app.notices() } }
        }
    }

    struct SearchView: View {
        let app: ChatsApp
        @State private var search: UserSearchModel?

        init(_ app: ChatsApp) { self.app = app }

        var body: some View {
            List(search?.documents ?? [], id: \.documentID) { person in
                Text(person.get("name") as? String ?? person.documentID)
            }
            .searchable(
                text: Binding {
                    search?.text ?? ""
                } set: {
                    search?.text = $0
                }
            )
            .navigationTitle("Search")
            .task { if search == nil { search = try? app.search() } }
        }
    }

    /// A skeleton, a sentence, or a word on how old the rows are.
    struct PhaseView: View {
        let phase: FeedPhase
        let isEmpty: Bool
        let empty: LocalizedStringKey

        init(_ phase: FeedPhase, isEmpty: Bool, _ empty: LocalizedStringKey) {
            self.phase = phase
            self.isEmpty = isEmpty
            self.empty = empty
        }

        var body: some View {
            switch phase {
            case .loading: ProgressView()
            case .fresh: if isEmpty { Text(empty).foregroundStyle(.secondary) }
            case .stale(let age):
                VStack {
                    Spacer()
                    Text(age.map { "As of \($0.formatted(.units(width: .narrow))) ago" } ?? "…")
                        .font(.caption)
                }
            case .failed(let error): Text(error.message)
            }
        }
    }
#endif
