#if canImport(SwiftUI)
    import ChatsCore
    import ExampleKit
    import Foundation
    import SwiftUI
    import Tidemark
    import TidemarkApp
    import TidemarkFiles

    /// Shows the chats with their badges. A tap opens a chat.
    struct ChatListView: View {
        let app: ChatsApp
        @State private var list: ChatListModel?

        init(_ app: ChatsApp) { self.app = app }

        var body: some View {
            List {
                ForEach(list?.rows ?? []) { row in
                    NavigationLink {
                        // Messages that arrive while the chat is open are marked too.
                        ChatView(row.chat, in: app)
                            .task(id: row.unread) { await list?.markSeen(row) }
                    } label: {
                        VStack(alignment: .leading) {
                            Text(row.chat.title).font(.headline)
                            Text(row.chat.lastText).lineLimit(1).foregroundStyle(.secondary)
                        }
                    }
                    .badge(row.unread)
                }
                if let list, list.hasMore {
                    ProgressView().task(id: list.rows.count) { await list.loadMore() }
                }
            }
            .overlay {
                if let list {
                    PhaseView(list.phase, isEmpty: list.rows.isEmpty, "Nobody has written yet.") {
                        await list.refresh()
                    }
                }
            }
            .refreshable { await list?.refresh() }
            .navigationTitle("Chats")
            .toolbar {
                NavigationLink("Notifications") { NoticesView(app) }
                NavigationLink("Activity") { EntriesView("Activity", app.activity) }
                NavigationLink("Calls") { EntriesView("Calls", app.calls) }
                NavigationLink("Purchases") { EntriesView("Purchases", app.purchases) }
                NavigationLink("Online") { OnlineView(app) }
                NavigationLink("Status") { StatesView(app) }
                NavigationLink("Search") { SearchView(app) }
                NavigationLink("Messages") { MessageSearchView(app) }
                NavigationLink("Blocked") { BlockedView(app) }
            }
            .task { if list == nil { list = try? app.chats() } }
        }
    }

    /// Shows one chat, oldest message first.
    struct ChatView: View {
        let chat: Chat
        let app: ChatsApp
        @State private var model: ChatModel?
        @State private var text = ""
        /// The newest row on the screen.
        @State private var row: String?
        @State private var photo: FileUpload?

        init(_ chat: Chat, in app: ChatsApp) {
            self.chat = chat
            self.app = app
        }

        var body: some View {
            ScrollView {
                LazyVStack(alignment: .leading) {
                    if let model, model.messages.hasMore {
                        Button("Load earlier") { Task { await model.loadEarlier() } }
                            .disabled(model.isLoadingEarlier)
                    }
                    if let model {
                        ForEach(model.messages.items.reversed()) {
                            MessageView($0.value, isWaiting: $0.hasPendingWrites, in: model)
                        }
                        ForEach(model.outgoing) { MessageView($0, isWaiting: true, in: model) }
                    }
                    if let problem = model?.problem { Text(problem).foregroundStyle(.red) }
                }
                .scrollTargetLayout()
            }
            .defaultScrollAnchor(.bottom)
            .scrollPosition(id: $row, anchor: .bottom)
            .overlay {
                if let model {
                    let isEmpty = model.messages.items.isEmpty && model.outgoing.isEmpty
                    PhaseView(model.messages.phase, isEmpty: isEmpty, "Say hello.") {
                        await model.messages.refresh()
                    }
                }
            }
            .safeAreaInset(edge: .bottom) {
                HStack {
                    if app.photos != nil { PhotoButton(photo: $photo) }
                    TextField("Message", text: $text).onSubmit { send() }
                    if photo != nil { Button("Send photo") { send() } }
                }
                .padding().background(.bar)
            }
            .navigationTitle(chat.title)
            .toolbar {
                NavigationLink("Media") {
                    EntriesView("Media") { try app.media(of: chat.id ?? "") }
                }
                Button("Clear chat") { Task { await model?.clear() } }
            }
            .task {
                if model == nil { model = try? app.chat(chat.id ?? "") }
                await model?.adoptOldMarks()
                if let left = await model?.rowLeft() { row = left }
                await model?.followUploads()
            }
            .onChange(of: row) { model?.leave(at: row) }
        }

        private func send() {
            let (message, upload) = (text, photo)
            (text, photo) = ("", nil)
            if message.isEmpty, upload == nil { return }
            Task { await model?.send(message, photo: upload) }
        }
    }

    struct NoticesView: View {
        let app: ChatsApp
        @State private var feed: FeedModel<Notice>?

        init(_ app: ChatsApp) { self.app = app }

        var body: some View {
            List {
                ForEach(feed?.items ?? []) { Text($0.value.text) }
                if let feed, feed.hasMore {
                    ProgressView().task(id: feed.items.count) { try? await feed.loadMore() }
                }
            }
            .overlay {
                if let feed {
                    PhaseView(feed.phase, isEmpty: feed.items.isEmpty, "Nothing new.") {
                        await feed.refresh()
                    }
                }
            }
            .navigationTitle("Notifications")
            .toolbar { Button("Clear all") { Task { try? await feed?.clear() } } }
            .task { if feed == nil { feed = try? app.notices() } }
        }
    }

    struct SearchView: View {
        let app: ChatsApp
        @State private var search: UserSearchModel?
        @State private var blocked: BlockedUsersModel?
        @State private var text = ""

        init(_ app: ChatsApp) { self.app = app }

        var body: some View {
            List {
                if let search, let error = search.error {
                    Text(error.message)
                    Button("Try again") { search.retry() }
                }
                ForEach(search?.documents ?? [], id: \.documentID) { person in
                    HStack {
                        PersonView(person.documentID, person.get("name") as? String)
                        Spacer()
                        if let blocked, !blocked.isBlocked(person.documentID) {
                            Button("Block", role: .destructive) {
                                Task { try? await blocked.block(person.documentID) }
                            }
                        }
                    }
                }
            }
            .searchable(text: $text)
            .onChange(of: text) { search?.text = text }
            .navigationTitle("Search")
            .task {
                if search == nil { search = try? app.search() }
                if blocked == nil { blocked = try? app.blocked() }
            }
        }
    }

    /// Shows a spinner, an error with a button to try again, or the age of the rows.
    struct PhaseView: View {
        let phase: FeedPhase
        let isEmpty: Bool
        let empty: LocalizedStringKey
        let refresh: () async -> Void

        init(
            _ phase: FeedPhase, isEmpty: Bool, _ empty: LocalizedStringKey,
            refresh: @escaping () async -> Void
        ) {
            self.phase = phase
            self.isEmpty = isEmpty
            self.empty = empty
            self.refresh = refresh
        }

        var body: some View {
            switch phase {
            case .loading: ProgressView()
            case .fresh: if isEmpty { Text(empty).foregroundStyle(.secondary) }
            case .stale(let age):
                note(age.map { "As of \($0.formatted(.units(width: .narrow))) ago" } ?? "…")
            case .failed(let error) where isEmpty:
                ContentUnavailableView {
                    Text(error.message)
                } actions: {
                    Button("Try again") { Task { await refresh() } }
                }
            case .failed(let error): note(error.message)
            }
        }

        /// Shows the text below the rows.
        private func note(_ text: String) -> some View {
            VStack {
                Spacer()
                Text(text).font(.caption).padding(8).background(.bar, in: .rect(cornerRadius: 8))
            }
        }
    }
#endif
