#if TIDEMARK_DEFECTS
    /// The mistakes of the old app, which a test can enable to prove that the model check finds
    /// them. Debug builds only.
    package struct LaunchDefects: OptionSet, Hashable, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The app waited for a profile that does not exist, without a timer.
        package static let waitsForProfileForEver = LaunchDefects(rawValue: 1)
        /// The app applied sign-ins in the middle of the onboarding.
        package static let appliesSignInsDuringOnboarding = LaunchDefects(rawValue: 2)
        /// The app set "signed in" with no user.
        package static let signedInWithoutUser = LaunchDefects(rawValue: 4)
        /// Diagnostics ran before anything else.
        package static let diagnosesBeforeContent = LaunchDefects(rawValue: 8)
        /// The app repeated a failed request immediately and without end.
        package static let asksAgainByItself = LaunchDefects(rawValue: 16)
        /// The app treated unreadable credentials as missing.
        package static let takesLockedForSignedOut = LaunchDefects(rawValue: 32)
    }
#endif
