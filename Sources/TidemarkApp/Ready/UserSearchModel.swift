public import Observation
public import Tidemark

/// A search field and what it has found, for a view to bind to.
///
/// Each change of ``text`` is answered from what is known at once, or asked for when nobody has typed
/// for ``debounce``. What comes late for an earlier text is kept for later and not shown.
@MainActor @Observable
public final class UserSearchModel {
    /// As it is typed.
    public var text = "" {
        didSet { if !text.hasSameBytes(as: oldValue) { search() } }
    }
    /// For ``text``, or while ``isSearching`` for what was typed before.
    public private(set) var documents: [QueryDocumentSnapshot] = []
    /// Whether there are more than these.
    public private(set) var hasMore = false
    public private(set) var isSearching = false
    /// Whether the server did not answer, and this is what the device has.
    public private(set) var isOffline = false
    /// Why nothing was found for ``text``; the results before stay.
    public private(set) var error: FirestoreError?

    /// How long a pause in typing is.
    @ObservationIgnored public let debounce: Duration
    @ObservationIgnored private let users: UserSearch
    @ObservationIgnored private let clock: any Clock<Duration>
    @ObservationIgnored private var searching: Task<Void, Never>?
    @ObservationIgnored private var lastSearch = 0

    public init(
        _ users: UserSearch, debounce: Duration = .milliseconds(250),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        precondition(debounce >= .zero, "nobody waits for less than nothing")
        self.users = users
        self.debounce = debounce
        self.clock = clock
        // What earlier launches have found is known at once then.
        Task { await users.open() }
    }

    deinit { searching?.cancel() }

    /// Asks for the same text again, as after an error.
    public func retry() { search() }

    private func search() {
        searching?.cancel()
        lastSearch += 1
        error = nil
        if let known = users.known(text) {
            isSearching = false
            return show(known)
        }
        isSearching = true
        searching = Task { [weak self, users, clock, debounce, text, number = lastSearch] in
            do {
                if debounce > .zero { try await clock.sleep(for: debounce) }
                let results = try await users.results(for: text)
                self?.end(number) { $0.show(results) }
            } catch let error as FirestoreError where !Task.isCancelled {
                self?.end(number) { $0.error = error }
            } catch {}
        }
    }

    /// Nothing that comes for an earlier text takes the place of a later one's.
    private func end(_ number: Int, _ change: (UserSearchModel) -> Void) {
        guard number == lastSearch else { return }
        isSearching = false
        change(self)
    }

    private func show(_ results: UserSearch.Results) {
        documents = results.documents
        hasMore = !results.isComplete
        isOffline = results.error != nil
    }
}
