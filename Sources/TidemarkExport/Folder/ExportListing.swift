import Foundation

/// `firebase-export-metadata.json`, which lists the contents of an export's folder.
///
/// The official tools know a single database and the accounts. Other databases and projects are
/// listed under another name that the tools ignore.
package struct ExportListing: Codable, Equatable, Sendable {
    package struct Part: Codable, Equatable, Sendable {
        package var version: String
        /// A folder, relative to this file's folder.
        package var path: String
        /// The file that describes the documents, relative to this file's folder. Only for
        /// documents.
        package var metadata_file: String?
    }

    package struct Database: Codable, Equatable, Sendable {
        package var project: String
        package var database: String
        package var metadata_file: String
    }

    package struct Accounts: Codable, Equatable, Sendable {
        package var project: String
        /// A folder, relative to this file's folder.
        package var path: String
    }

    package var version: String
    package var firestore: Part?
    package var auth: Part?
    package var storage: Part?
    package var tidemark: [Database]?
    package var tidemark_accounts: [Accounts]?

    /// The form's version, which the tools compare.
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
