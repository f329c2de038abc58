// Glob: finds files by name, newest first.
import { stat } from 'node:fs/promises'
import { relative } from 'node:path'
import { z } from 'zod'
import { glob } from '../../files/glob.ts'
import { slashed } from '../../files/paths.ts'
import { walk } from '../../files/walk.ts'
import type { AnyTool } from '../../tool.ts'
import { failed, guardedTool, type Kit } from '../kit.ts'
import { folderProblem } from './folder.ts'

const maxShown = 200

const input = z.object({
  pattern: z.string().min(1).max(1_000).describe('Such as **/*.ts or src/**/index.{js,ts}.'),
  path: z.string().optional().describe('The folder to search. Default: the workspace.'),
})

export function globTool(kit: Kit): AnyTool {
  return guardedTool<z.infer<typeof input>>(kit, {
    name: 'Glob',
    description:
      'Finds files whose path matches a pattern, newest first. Files that .gitignore names, node_modules and .git are left out.',
    input,
    isParallel: true,
    isReproducible: true,
    plan: async ({ pattern, path = '.' }, { signal }) => {
      const place = await kit.workspace.place(path)
      return {
        access: { type: 'read', tool: 'Glob', place },
        title: `Glob ${pattern} in ${place.shown}`,
        run: async () => {
          const problem = await folderProblem(place)
          if (problem !== undefined) return failed(problem)
          const matches = glob(pattern.replace(/^\.?\//, ''))
          const options = { root: kit.workspace.realRoot, signal, isHidden: kit.permissions.hidden() }
          const { files, isCut } = await walk(place.real, options)
          const found = files.filter((file) => matches(slashed(relative(place.real, file))))
          const sorted = await newestFirst(found)
          return listText(
            sorted.map((file) => nameFor(kit, file)),
            isCut,
          )
        },
      }
    },
  })
}

/** Relative to the workspace if it is inside. */
export function nameFor({ workspace }: Kit, file: string): string {
  const own = relative(workspace.realRoot, file)
  return own.startsWith('..') ? file : own
}

function listText(names: readonly string[], isCut: boolean): string {
  const note = isCut ? '\n[There are too many files to look at all of them: search in a folder below.]' : ''
  if (names.length === 0) return `No files match.${note}`
  const more = names.length - maxShown
  const rest = more > 0 ? `\n[${more} more files match: use a narrower pattern.]` : ''
  return `${names.slice(0, maxShown).join('\n')}${rest}${note}`
}

/** Files of the same age are ordered by name. */
export async function newestFirst(files: readonly string[]): Promise<readonly string[]> {
  const times = new Map<string, number>()
  for (let at = 0; at < files.length; at += 64) {
    const some = files.slice(at, at + 64)
    await Promise.all(
      some.map(async (file) =>
        times.set(
          file,
          await stat(file).then(
            (found) => found.mtimeMs,
            () => 0,
          ),
        ),
      ),
    )
  }
  return [...files].sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0) || (a < b ? -1 : 1))
}
