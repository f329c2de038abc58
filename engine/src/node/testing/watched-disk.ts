// A real disk that announces each operation, so that a test can count, interrupt or kill at any step.
import { type Disk, nodeDisk } from '../write/disk.ts'

export function watchedDisk(before: (operation: keyof Disk) => void, disk: Disk = nodeDisk): Disk {
  return {
    open: (path, opening) => announced('open', () => disk.open(path, opening)),
    stat: (file) => announced('stat', () => disk.stat(file)),
    read: (file, into, position) => announced('read', () => disk.read(file, into, position)),
    write: (file, bytes) => announced('write', () => disk.write(file, bytes)),
    truncate: (file, size) => announced('truncate', () => disk.truncate(file, size)),
    sync: (file) => announced('sync', () => disk.sync(file)),
    close: (file) => announced('close', () => disk.close(file)),
    link: (from, to) => announced('link', () => disk.link(from, to)),
    rename: (from, to) => announced('rename', () => disk.rename(from, to)),
    unlink: (path) => announced('unlink', () => disk.unlink(path)),
    list: (folder) => announced('list', () => disk.list(folder)),
    makeFolder: (path) => announced('makeFolder', () => disk.makeFolder(path)),
  }
  function announced<T>(operation: keyof Disk, run: () => T): T {
    before(operation)
    return run()
  }
}
