#if TIDEMARK_DEFECTS
    /// What the old app did, put back on order, to see that the model check finds it. Debug builds only.
    package struct LaunchDefects: OptionSet, Hashable, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// A profile that does not exist was waited for, without a timer.
        package static let waitsForProfileForEver = LaunchDefects(rawValue: 1)
        /// The listener for sign-ins was heard in the middle of onboarding.
        package static let appliesSignInsDuringOnboarding = LaunchDefects(rawValue: 2)
        /// … and set "signed in" with no user.
        package static let signedInWithoutUser = LaunchDefects(rawValue: 4)
        /// Diagnostics ran before anything else.
        package static let diagnosesBeforeContent = LaunchDefects(rawValue: 8)
        /// What failed was asked again at once, for ever.
        package static let asksAgainByItself = LaunchDefects(rawValue: 16)
        /// Credentials that could not be read were taken for none.
        package static let takesLockedForSignedOut = LaunchDefects(rawValue: 32)
    }
#endif
