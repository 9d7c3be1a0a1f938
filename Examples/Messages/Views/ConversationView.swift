#if canImport(SwiftUI)
    import Foundation
    import MessagesCore
    import SwiftUI
    import Tidemark
    import TidemarkApp

    /// Shows one conversation, oldest message first, with the refused messages and a text field.
    struct ConversationView: View {
        let conversation: Conversation
        let app: MessagesApp
        @State private var model: ConversationModel?
        @State private var text = ""

        init(_ conversation: Conversation, in app: MessagesApp) {
            self.conversation = conversation
            self.app = app
        }

        var body: some View {
            ScrollView {
                LazyVStack(alignment: .leading) {
                    if model?.messages.hasMore == true { ProgressView() }
                    ForEach(model?.rows ?? []) { row in
                        Group {
                            if let reason = row.failure?.message {
                                RefusedView(row.value, reason) {
                                    await model?.sendAgain(row)
                                } discard: {
                                    await model?.discard(row)
                                }
                            } else {
                                BubbleView(row, isOwn: row.value.author == app.me)
                            }
                        }
                        .onAppear { model?.loadMoreIfNeeded(at: row) }
                    }
                    if let problem = model?.problem { Text(problem).foregroundStyle(.red) }
                }
            }
            .defaultScrollAnchor(.bottom)
            .overlay { if let model { PhaseView(model.messages, empty: "Say hello.") } }
            .safeAreaInset(edge: .bottom) { field }
            .refreshable { await model?.refresh() }
            .navigationTitle(conversation.title)
            .task {
                if model == nil { model = try? app.conversation(conversation.id ?? "") }
            }
            .onDisappear {
                model?.close()
                model = nil
            }
        }

        private var field: some View {
            HStack {
                TextField("Message", text: $text)
                Button("Send") {
                    let message = text
                    text = ""
                    Task { await model?.send(message) }
                }
                .disabled(text.isEmpty)
            }
            .padding().background(.bar)
        }
    }

    struct BubbleView: View {
        let row: PagerItem<Message>
        let isOwn: Bool

        init(_ row: PagerItem<Message>, isOwn: Bool) {
            self.row = row
            self.isOwn = isOwn
        }

        var body: some View {
            VStack(alignment: isOwn ? .trailing : .leading) {
                Text(row.value.text).padding(8)
                    .background(.quaternary, in: .rect(cornerRadius: 12))
                TimeText(row.isPending ? nil : row.value.timestamp)
            }
            .frame(maxWidth: .infinity, alignment: isOwn ? .trailing : .leading)
            .opacity(row.isPending ? 0.6 : 1)
        }
    }

    struct RefusedView: View {
        let message: Message
        let reason: String
        let sendAgain: () async -> Void
        let discard: () async -> Void

        init(
            _ message: Message, _ reason: String, sendAgain: @escaping () async -> Void,
            discard: @escaping () async -> Void
        ) {
            self.message = message
            self.reason = reason
            self.sendAgain = sendAgain
            self.discard = discard
        }

        var body: some View {
            VStack(alignment: .trailing) {
                Text(message.text)
                Text(reason).font(.caption).foregroundStyle(.red)
                Button("Send again") { Task { await sendAgain() } }
                Button("Delete", role: .destructive) { Task { await discard() } }
            }
            .frame(maxWidth: .infinity, alignment: .trailing)
        }
    }
#endif
