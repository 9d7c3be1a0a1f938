public import Observation
public import Tidemark

/// A search field and its results, for a view to bind to.
///
/// Each change of ``text`` is answered immediately from known results, or requested after a pause
/// of ``debounce`` in the typing. A late answer for an earlier text is kept for later and not
/// shown.
@MainActor @Observable
public final class UserSearchModel {
    /// The user's input.
    public var text = "" {
        didSet { if !text.hasSameBytes(as: oldValue) { search() } }
    }
    /// The results for ``text``, or for the earlier text while ``isSearching`` is true.
    public private(set) var documents: [QueryDocumentSnapshot] = []
    /// True if there are more documents than these.
    public private(set) var hasMore = false
    public private(set) var isSearching = false
    /// True if the server did not answer, and the results come only from the device.
    public private(set) var isOffline = false
    /// The reason why the search for ``text`` failed; the earlier results stay.
    public private(set) var error: FirestoreError?

    /// The pause in typing after which a request is sent.
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
        // The results of earlier launches are then available immediately.
        Task { await users.open() }
    }

    deinit { searching?.cancel() }

    /// Searches for the same text again, for example after an error.
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

    /// Applies the end of a search, unless a later search has begun.
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
