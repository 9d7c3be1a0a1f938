/// The version of this package.
///
/// `Tests/TidyTests/VersionTests.swift` compares it with README and CHANGELOG.
package enum Version {
    /// A semantic version, as in `1.2.3`.
    package static let number = "0.1.0"
}
