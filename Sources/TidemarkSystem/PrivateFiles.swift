/// Makes files and folders that only this user may read, whatever the process's umask is.
package enum PrivateFiles {
    /// Makes a folder with mode 0700, and its missing parents. An existing folder is not changed.
    ///
    /// - Returns: 0, or the system's error.
    package static func makeFolder(_ path: String) -> Int32 {
        if mkdir(path, 0o700) == 0 { return chmod(path, 0o700) == 0 ? 0 : errno }
        let error = errno
        if error == EEXIST { return isFolder(path) ? 0 : error }
        guard error == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            return error
        }
        let parent = makeFolder(String(path[..<slash]))
        if parent != 0 { return parent }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { return errno }
        return chmod(path, 0o700) == 0 ? 0 : errno
    }

    private static func isFolder(_ path: String) -> Bool {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder < 0 { return false }
        close(folder)
        return true
    }

    /// Makes a file with mode 0600 and opens it for writing. An existing file is replaced.
    ///
    /// - Returns: The descriptor, or -1 with `errno`.
    package static func create(_ path: String) -> Int32 {
        if unlink(path) != 0, errno != ENOENT { return -1 }
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file >= 0 { _ = fchmod(file, 0o600) }
        return file
    }

    /// Locks a file or folder until the descriptor is closed or the process ends.
    ///
    /// - Parameter file: A descriptor of the file or folder.
    /// - Returns: False if another process, or another descriptor of this process, has locked it.
    package static func take(_ file: Int32) -> Bool { flock(file, LOCK_EX | LOCK_NB) == 0 }
}
