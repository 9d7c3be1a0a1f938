/// The state of a task as its observers see it, and the observers to call. Pure.
///
/// Each change to a state calls the observers of that state. An observer of the present state is
/// called when it is added. The end of a task, by success or failure, removes all observers.
struct TaskObservers<Handler> {
    private(set) var status = StorageTaskStatus.unknown
    private var handlers: [(handle: Int, status: StorageTaskStatus, handler: Handler)] = []
    private var lastHandle = 0

    var isOver: Bool { status == .success || status == .failure }

    /// Adds an observer.
    ///
    /// - Returns: The handle, and true if the observer must be called now.
    mutating func add(
        for status: StorageTaskStatus, _ handler: Handler
    ) -> (handle: Int, isDue: Bool) {
        lastHandle += 1
        let isDue = status == self.status && status != .unknown
        if !isOver { handlers.append((lastHandle, status, handler)) }
        return (lastHandle, isDue)
    }

    mutating func remove(_ handle: Int) { handlers.removeAll { $0.handle == handle } }
    mutating func removeAll() { handlers = [] }
    mutating func removeAll(for status: StorageTaskStatus) {
        handlers.removeAll { $0.status == status }
    }

    /// Changes the state. An ended task stays as it is.
    ///
    /// - Returns: The observers to call, in the order in which they were added.
    mutating func change(to status: StorageTaskStatus) -> [Handler] {
        if isOver { return [] }
        self.status = status
        defer { if isOver { handlers = [] } }
        return handlers.filter { $0.status == status }.map(\.handler)
    }
}
