import ExampleKit
import Foundation
import Tidemark
import TidemarkApp

/// Makes the app's screens as values.
struct MessagesScreens {
    let me: String
    let now: Timestamp
    var times = RelativeTime(calendar: .current)

    func list(
        _ conversations: [Conversation], _ state: Screen.State, hasMore: Bool = false
    ) -> Screen {
        let rows = conversations.map { conversation in
            Row(
                conversation.id ?? "", conversation.title, detail: conversation.lastText,
                trailing: conversation.lastMessageAt.map { self.text($0) },
                picture: Picture(of: conversation.title)
            ).with {
                $0.isDocument = true
                $0.isTappable = true
                $0.isPending = conversation.lastMessageAt == nil
            }
        }
        return Screen(
            "Messages", state, sections: sections(rows, state),
            controls: hasMore ? [Control("older", "Older conversations")] : ways(state))
    }

    func conversation(
        _ title: String, messages: [Message], state: Screen.State, hasMore: Bool,
        refused: [PagerItem<Message>] = [], problem: String? = nil
    ) -> Screen {
        var sections = sections(messages.map(bubble), state)
        if !refused.isEmpty {
            let rows = refused.map { message in
                Row(
                    "again \(message.id)", message.value.text, detail: message.failure?.message,
                    trailing: "Send again"
                )
                .with { $0.isTappable = true }
            }
            sections.append(Screen.Section("Not sent", rows))
        }
        if let problem { sections.append(Screen.Section(nil, [Row("problem", problem)])) }
        let older = hasMore ? [Control("older", "Older messages")] : []
        return Screen(
            title, state, sections: sections,
            controls: [Control("back", "Back")] + older + ways(state)
                + [Control("send", "Message", kind: .field(placeholder: "Message", button: "Send"))]
        )
    }

    private func bubble(_ message: Message) -> Row {
        let isOwn = message.author == me
        return Row(
            message.id ?? "", message.text, kind: .bubble(isOwn: isOwn),
            detail: isOwn ? nil : message.author,
            trailing: message.isWaiting ? "Sending" : self.text(message.timestamp)
        ).with {
            $0.isDocument = true
            $0.isPending = message.isWaiting
        }
    }

    func text(_ time: Timestamp) -> String { times.text(for: time, at: now) }

    private func sections(_ rows: [Row], _ state: Screen.State) -> [Screen.Section] {
        if state != .loading { return rows.isEmpty ? [] : [Screen.Section(nil, rows)] }
        return [Screen.Section(nil, (0..<4).map { Row("skeleton \($0)", "", kind: .skeleton) })]
    }

    private func ways(_ state: Screen.State) -> [Control] {
        if case .failed = state {
            [Control("again", "Try again", kind: .button(isMain: true))]
        } else {
            []
        }
    }
}

extension MessagesScreens {
    /// - Parameter empty: The text of an empty list.
    func state(_ phase: PagePhase, isEmpty: Bool, empty: String) -> Screen.State {
        switch phase {
        case .loading: .loading
        case .fresh: isEmpty ? .empty(empty) : .fresh
        case .stale(let since):
            .stale(
                age: since.map { max(0, now.duration(since: $0).seconds) },
                reason: since.map { "As of \(text($0)). Waiting for the server." }
                    ?? "What this device holds. Waiting for the server.")
        case .failed(let error): .failed(reason: error.message, wayOut: "again")
        }
    }
}
