// Finds the files of the workspace that match the text after an `@`.
import { basename, relative } from 'node:path'
import { slashed } from '../../files/paths.ts'
import { walk } from '../../files/walk.ts'

const maxFound = 50
const maxFiles = 50_000
/** The list is reused for this long, so that typing does not read the disk with every letter. */
const freshMs = 5_000

export function createFileFinder(folder: string): (typed: string) => Promise<readonly string[]> {
  let listed: Promise<readonly string[]> | undefined
  let listedAt = 0
  const list = async () => {
    const { signal } = new AbortController()
    const { files } = await walk(folder, { root: folder, signal, most: maxFiles })
    return files.map((file) => slashed(relative(folder, file)))
  }
  return async (typed) => {
    if (!listed || Date.now() - listedAt > freshMs) {
      listed = list()
      listedAt = Date.now()
    }
    return bestMatches(await listed, typed)
  }
}

/** Matches by name, then by path; shorter paths first. Files in hidden folders only if a dot was typed. */
export function bestMatches(files: readonly string[], typed: string): readonly string[] {
  const wanted = typed.toLowerCase()
  const ranked = files.flatMap((file) => {
    const path = file.toLowerCase()
    const name = basename(path)
    if (!wanted.includes('.') && /(?:^|\/)\./.test(path)) return []
    if (name.startsWith(wanted) || path.startsWith(wanted)) return [{ file, rank: 0 }]
    return path.includes(wanted) ? [{ file, rank: name.includes(wanted) ? 1 : 2 }] : []
  })
  ranked.sort((a, b) => a.rank - b.rank || a.file.length - b.file.length || (a.file < b.file ? -1 : 1))
  return ranked.slice(0, maxFound).map(({ file }) => file)
}
