import Foundation

/// `firebase-export-metadata.json`: what an export's folder holds.
///
/// The official tools know one database and the accounts. Other databases and projects are listed
/// beside these, under a name that the tools pass over.
package struct ExportListing: Codable, Equatable, Sendable {
    package struct Part: Codable, Equatable, Sendable {
        package var version: String
        /// A folder, from this file's.
        package var path: String
        /// Of documents alone: the file that says what they are, from this file's folder.
        package var metadata_file: String?
    }

    package struct Database: Codable, Equatable, Sendable {
        package var project: String
        package var database: String
        package var metadata_file: String
    }

    package struct Accounts: Codable, Equatable, Sendable {
        package var project: String
        /// A folder, from this file's.
        package var path: String
    }

    package var version: String
    package var firestore: Part?
    package var auth: Part?
    package var tidemark: [Database]?
    package var tidemark_accounts: [Accounts]?

    /// The form's version, as the tools compare it.
    static let formVersion = "1.0.0"
    static let fileName = "firebase-export-metadata.json"
    static let overallSuffix = ".overall_export_metadata"

    package init(firestore: Part? = nil, auth: Part? = nil, tidemark: [Database]? = nil) {
        version = Self.formVersion
        self.firestore = firestore
        self.auth = auth
        self.tidemark = tidemark
    }
}
