// Suggests files for a path that does not exist: the same name with another ending or case, in the same folder.
import { readdir } from 'node:fs/promises'
import { basename, dirname, extname } from 'node:path'
import type { Place } from '../files/paths.ts'

export async function similarNames({ real, shown, isInside }: Place): Promise<string> {
  if (!isInside) return ''
  const wanted = stem(basename(real))
  const names = await readdir(dirname(real)).catch(() => [])
  const alike = names.filter((name) => stem(name) === wanted).slice(0, 3)
  if (alike.length === 0) return ''
  const folder = dirname(shown)
  return ` Did you mean ${alike.map((name) => (folder === '.' ? name : `${folder}/${name}`)).join(' or ')}?`
}

function stem(name: string): string {
  return basename(name, extname(name)).toLowerCase()
}
