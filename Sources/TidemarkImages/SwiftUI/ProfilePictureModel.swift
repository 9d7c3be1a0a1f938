public import Observation

/// The address of a user's picture, for a view that knows the user's id. `TidemarkImage(user:)`
/// uses this model.
///
/// While the view exists, it follows the user's changes of the picture, and looks a user up again
/// whose lookup has failed.
@MainActor @Observable
public final class ProfilePictureModel {
    /// The time between two lookups if the first has failed.
    public static var pause: Duration { .seconds(30) }

    /// The reason why there is no picture; nil while the user is looked up.
    public private(set) var error: PictureError?
    private var followed: (user: String, picture: ProfilePicture?)?

    @ObservationIgnored private let clock: any Clock<Duration>

    /// - Parameter clock: Measures ``pause``.
    public init(clock: any Clock<Duration> = ContinuousClock()) { self.clock = clock }

    /// Returns the picture to show now; nil for a placeholder. Never waits.
    public func picture(
        of user: String, from source: (any ProfilePictureSource)?
    ) -> ProfilePicture? {
        if let followed, followed.user.utf8.elementsEqual(user.utf8) { return followed.picture }
        return source?.known(user) ?? nil
    }

    /// Looks the user up and follows the changes, until the task is cancelled.
    public func follow(_ user: String, from source: (any ProfilePictureSource)?) async {
        error = nil
        guard let source else { return }
        while !Task.isCancelled {
            do {
                for try await picture in source.pictures(of: user) {
                    followed = (user, picture)
                    error = picture == nil ? .noPicture : nil
                }
                return
            } catch {
                if Task.isCancelled { return }
                // An app's lookup seldom throws a picture's error.
                self.error = error as? PictureError ?? .unreachable
                try? await clock.sleep(for: Self.pause)
            }
        }
    }
}
