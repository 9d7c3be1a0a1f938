#if canImport(UIKit)
    import Foundation
    import HomesCore
    import Tidemark
    import TidemarkApp
    import TidemarkImages
    import UIKit

    /// Shows the members of a home, below the picture of the user's profile. Each difference of the
    /// feed becomes a change of rows.
    final class MembersController: UITableViewController {
        private let members: TypedFeed<Member>
        private var items: [TypedItem<Member>] = []
        private var watching: Task<Void, Never>?
        /// The picture of the profile; nil in an app without Storage.
        private let photo: HomePhoto?
        private let user: UserID
        private var drawing: Task<Void, Never>?
        /// The key of the position in the app's defaults.
        private static let key = "position of the members"
        /// The id of the row to scroll to when the table has the row.
        private var wanted: String?

        init(_ feed: Feed, of user: UserID, photo: HomePhoto?) {
            members = TypedFeed(of: Member.self, feed)
            (self.user, self.photo) = (user, photo)
            super.init(style: .plain)
            title = "Neighbours"
        }

        @available(*, unavailable)
        required init?(coder: NSCoder) { fatalError("This controller is in no storyboard.") }

        deinit {
            watching?.cancel()
            drawing?.cancel()
        }

        override func viewDidLoad() {
            super.viewDidLoad()
            tableView.register(UITableViewCell.self, forCellReuseIdentifier: "member")
            refreshControl = UIRefreshControl()
            refreshControl?.addAction(
                UIAction { [weak self] _ in self?.refresh() }, for: .valueChanged)
            let diffs = members.diffs
            watching = Task { [weak self] in
                for await diff in diffs { self?.show(diff) }
            }
            showPosition()
            showPicture()
        }

        /// Shows the picture above the rows: from its copy on this phone until the profile is sent,
        /// then by its `gs://` address.
        private func showPicture() {
            guard let pictures = photo?.pictures(of: user.text) else { return }
            drawing?.cancel()
            drawing = Task { [weak self] in
                for await picture in pictures {
                    guard let image = picture.makeCGImage() else { continue }
                    let view = UIImageView(
                        image: UIImage(cgImage: image, scale: 2, orientation: .up))
                    view.contentMode = .scaleAspectFit
                    view.accessibilityLabel = "Your picture"
                    self?.tableView.tableHeaderView = view
                }
            }
        }

        override func viewWillDisappear(_ animated: Bool) {
            super.viewWillDisappear(animated)
            let top = tableView.indexPathsForVisibleRows?.first
            let position = top.map { items[$0.row].position }
            UserDefaults.standard.set(position?.rawValue, forKey: Self.key)
        }

        /// Scrolls to the row at which the user left the list. It can be below the feed's window.
        private func showPosition() {
            let text = UserDefaults.standard.string(forKey: Self.key)
            guard let position = text.flatMap(ListPosition.init) else { return }
            Task { [members, weak self] in
                self?.wanted = try? await members.feed.loadMore(to: position)
                self?.scroll()
            }
        }

        private func scroll() {
            guard let row = items.firstIndex(where: { $0.id == wanted }) else { return }
            wanted = nil
            tableView.scrollToRow(at: Self.path(row), at: .top, animated: false)
        }

        /// Applies a difference. In a batch, UIKit counts deleted rows and the origins of moves in
        /// the old list, and inserted rows and the targets of moves in the new list, as `FeedDiff`
        /// does. Changed rows are drawn again after the batch, because a row can move and change.
        private func show(_ diff: FeedDiff<Member>) {
            tableView.performBatchUpdates { [self] in
                items = diff.state.items
                tableView.deleteRows(at: Self.paths(diff.removed), with: .automatic)
                tableView.insertRows(at: Self.paths(diff.inserted), with: .automatic)
                for move in diff.moved {
                    tableView.moveRow(at: Self.path(move.from), to: Self.path(move.to))
                }
            }
            tableView.reconfigureRows(at: Self.paths(diff.updated))
            show(diff.state.phase)
            scroll()
        }

        private func show(_ phase: FeedPhase) {
            switch phase {
            case .loading, .fresh: navigationItem.prompt = nil
            case .stale: navigationItem.prompt = "Looking for news."
            case .failed(let error): navigationItem.prompt = error.message
            }
        }

        /// Reads the news, and loads a picture again that could not be loaded.
        private func refresh() {
            showPicture()
            Task { [members, weak self] in
                // The prompt shows an error.
                _ = try? await members.feed.sync()
                self?.refreshControl?.endRefreshing()
            }
        }

        private static func path(_ row: Int) -> IndexPath { IndexPath(row: row, section: 0) }
        private static func paths(_ rows: [Int]) -> [IndexPath] { rows.map(path) }

        // MARK: Rows

        override func tableView(
            _ tableView: UITableView, numberOfRowsInSection section: Int
        ) -> Int { items.count }

        override func tableView(
            _ tableView: UITableView, cellForRowAt indexPath: IndexPath
        ) -> UITableViewCell {
            let cell = tableView.dequeueReusableCell(withIdentifier: "member", for: indexPath)
            let item = items[indexPath.row]
            var content = cell.defaultContentConfiguration()
            content.text = item.value.name
            content.secondaryText = item.hasPendingWrites ? "Sending" : nil
            cell.contentConfiguration = content
            return cell
        }
    }
#endif
