#if canImport(SwiftUI)
    import Foundation
    import MessagesCore
    import SwiftUI
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
                    if model?.messages.hasMore == true {
                        ProgressView().task(id: model?.messages.items.count) {
                            model?.messages.loadMore()
                        }
                    }
                    ForEach(model?.shown ?? []) {
                        BubbleView($0, isOwn: $0.author == app.me)
                    }
                    ForEach(model?.refused ?? []) { refused in
                        RefusedView(refused) {
                            await model?.sendAgain(refused)
                        } discard: {
                            await model?.discard(refused)
                        }
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
        let message: Message
        let isOwn: Bool

        init(_ message: Message, isOwn: Bool) {
            self.message = message
            self.isOwn = isOwn
        }

        var body: some View {
            VStack(alignment: isOwn ? .trailing : .leading) {
                Text(message.text).padding(8).background(.quaternary, in: .rect(cornerRadius: 12))
                TimeText(message.isWaiting ? nil : message.timestamp)
            }
            .frame(maxWidth: .infinity, alignment: isOwn ? .trailing : .leading)
            .opacity(message.isWaiting ? 0.6 : 1)
        }
    }

    struct RefusedView: View {
        let refused: RefusedMessage
        let sendAgain: () async -> Void
        let discard: () async -> Void

        init(
            _ refused: RefusedMessage, sendAgain: @escaping () async -> Void,
            discard: @escaping () async -> Void
        ) {
            self.refused = refused
            self.sendAgain = sendAgain
            self.discard = discard
        }

        var body: some View {
            VStack(alignment: .trailing) {
                Text(refused.text)
                Text(refused.reason).font(.caption).foregroundStyle(.red)
                Button("Send again") { Task { await sendAgain() } }
                Button("Delete", role: .destructive) { Task { await discard() } }
            }
            .frame(maxWidth: .infinity, alignment: .trailing)
        }
    }
#endif
