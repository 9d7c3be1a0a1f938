import ExampleKit
import Foundation
import Tidemark
import TidemarkApp
import TidemarkFiles

/// The photos of a chat's messages, by the ids of the messages.
struct ChatPhotos {
    /// The photos that are loaded.
    var loaded: [String: Photo] = [:]
    /// The photos that are not sent yet.
    var uploads: [String: WaitingFile] = [:]
    /// True if the user can send photos.
    var canSend = false
}

/// Makes the app's screens as values.
struct ChatsScreens {
    let me: String
    let now: Timestamp

    func list(
        _ rows: [ChatListModel.Row], _ state: Screen.State, hasMore: Bool = false
    ) -> Screen {
        let shown = rows.map { row in
            Row(
                row.id, row.chat.title, detail: row.chat.lastText,
                trailing: row.chat.lastMessageAt.map { text($0) },
                badge: row.unread > 0 ? "\(row.unread)" : nil, picture: Picture(of: row.chat.title)
            ).with {
                $0.isDocument = true
                $0.isTappable = true
                $0.isUnread = row.unread > 0
                $0.isPending = row.isWaiting
            }
        }
        let total = rows.reduce(0) { $0 + $1.unread }
        let places = [
            Control("notices", "Notifications"), Control("blocked", "Blocked"),
            Control("search", "Search"),
        ]
        return Screen(
            total > 0 ? "Chats (\(total))" : "Chats", state, sections: sections(shown, state),
            controls: places + older(hasMore) + ways(state))
    }

    func chat(
        _ title: String, messages: [ChatMessage], waiting: Set<String> = [],
        photos: ChatPhotos = ChatPhotos(), state: Screen.State, hasMore: Bool = false,
        problem: String? = nil
    ) -> Screen {
        let rows = messages.map { message in
            let id = message.id ?? ""
            let isOwn = message.author == me
            return Row(
                id, message.text.isEmpty ? "Photo" : message.text, kind: .bubble(isOwn: isOwn),
                detail: isOwn ? nil : message.author,
                trailing: photos.uploads[id]?.words
                    ?? (waiting.contains(id) ? "Sending" : text(message.sentAt))
            ).with {
                $0.isDocument = true
                $0.isPending = waiting.contains(id)
                $0.photo = photos.loaded[id]
            }
        }
        var sections = sections(rows, state)
        if let problem { sections.append(Screen.Section(nil, [Row("problem", problem)])) }
        return Screen(
            title, state, sections: sections,
            controls: [Control("back", "Back"), Control("clear", "Clear chat")] + older(hasMore)
                + ways(state) + photoControls(photos)
                + [Control("send", "Message", kind: .field(placeholder: "Message", button: "Send"))]
        )
    }

    func notices(
        _ notices: [Notice], _ state: Screen.State, hasMore: Bool = false
    ) -> Screen {
        let rows = notices.map { notice in
            Row(notice.id ?? "", notice.text, trailing: notice.createdAt.map { text($0) })
                .with { $0.isDocument = true }
        }
        return Screen(
            "Notifications", state, sections: sections(rows, state),
            controls: [Control("back", "Back"), Control("clear", "Clear all")] + older(hasMore)
                + ways(state))
    }

    func blocked(_ people: [(id: String, name: String)], _ state: Screen.State) -> Screen {
        let rows = people.map { person in
            Row(person.id, person.name, trailing: "Unblock").with {
                $0.isDocument = true
                $0.isTappable = true
            }
        }
        return Screen(
            "Blocked", state, sections: sections(rows, state),
            controls: [Control("back", "Back")] + ways(state))
    }

    func search(_ people: [(id: String, name: String)], _ state: Screen.State) -> Screen {
        let rows = people.map { person in
            Row(person.id, person.name, trailing: "Block").with {
                $0.isDocument = true
                $0.isTappable = true
            }
        }
        return Screen(
            "Search", state, sections: sections(rows, state),
            controls: [
                Control("back", "Back"),
                Control("name", "Name", kind: .search(placeholder: "A name")),
            ] + ways(state))
    }

    // MARK: Parts

    func state(_ phase: FeedPhase, isEmpty: Bool, empty: String) -> Screen.State {
        switch phase {
        case .loading: .loading
        case .fresh: isEmpty ? .empty(empty) : .fresh
        case .stale(let age) where isEmpty && age == nil: .loading
        case .stale(let age): .stale(age: age?.seconds, reason: "Looking for news.")
        case .failed(let error) where isEmpty: .failed(reason: error.message, wayOut: "again")
        case .failed(let error): .stale(age: nil, reason: error.message)
        }
    }

    private func text(_ time: Timestamp) -> String {
        RelativeTime(calendar: .current).text(for: time, at: now)
    }

    private func sections(_ rows: [Row], _ state: Screen.State) -> [Screen.Section] {
        if state != .loading { return rows.isEmpty ? [] : [Screen.Section(nil, rows)] }
        return [Screen.Section(nil, (0..<4).map { Row("skeleton \($0)", "", kind: .skeleton) })]
    }

    /// The ways out for refused photos, and the button that sends a photo.
    private func photoControls(_ photos: ChatPhotos) -> [Control] {
        guard photos.canSend else { return [] }
        let isRefused = photos.uploads.values.contains(where: \.isRefused)
        let ways = [Control("retryPhotos", "Send again"), Control("discardPhotos", "Discard")]
        return (isRefused ? ways : []) + [Control("photo", "Send a photo")]
    }

    private func older(_ hasMore: Bool) -> [Control] {
        hasMore ? [Control("older", "Older")] : []
    }

    private func ways(_ state: Screen.State) -> [Control] {
        if case .failed = state {
            [Control("again", "Try again", kind: .button(isMain: true))]
        } else {
            []
        }
    }
}
