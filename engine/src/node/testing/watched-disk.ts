// A real disk that says beforehand what it is about to do, so that a test can count, interrupt or kill at any step.
import { type Disk, nodeDisk } from '../write/disk.ts'

export function watchedDisk(before: (operation: keyof Disk) => void, disk: Disk = nodeDisk): Disk {
  return {
    open: (path, opening) => told('open', () => disk.open(path, opening)),
    stat: (file) => told('stat', () => disk.stat(file)),
    read: (file, into, position) => told('read', () => disk.read(file, into, position)),
    write: (file, bytes) => told('write', () => disk.write(file, bytes)),
    truncate: (file, size) => told('truncate', () => disk.truncate(file, size)),
    sync: (file) => told('sync', () => disk.sync(file)),
    close: (file) => told('close', () => disk.close(file)),
    link: (from, to) => told('link', () => disk.link(from, to)),
    rename: (from, to) => told('rename', () => disk.rename(from, to)),
    unlink: (path) => told('unlink', () => disk.unlink(path)),
    list: (folder) => told('list', () => disk.list(folder)),
    makeFolder: (path) => told('makeFolder', () => disk.makeFolder(path)),
  }
  function told<T>(operation: keyof Disk, run: () => T): T {
    before(operation)
    return run()
  }
}
