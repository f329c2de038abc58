// Grep: searches the text of files.
import { basename, relative, sep } from 'node:path'
import { glob, ignoreGlob } from '../../files/glob.ts'
import type { Place } from '../../files/paths.ts'
import { walk } from '../../files/walk.ts'
import type { AnyTool, ToolContext, ToolOutput } from '../../tool.ts'
import { failed, guardedTool, type Kit } from '../kit.ts'
import { statOrProblem } from './folder.ts'
import { newestFirst } from './glob-tool.ts'
import { type GrepInput, input } from './grep-input.ts'
import { contentText, countText, filesText } from './grep-text.ts'
import { search } from './search.ts'
import { fileTypes } from './types.ts'

/** More matching lines are never looked at. */
const maxMatches = 20_000

export function grepTool(kit: Kit, { ripgrep }: { readonly ripgrep: string | undefined }): AnyTool {
  return guardedTool<GrepInput>(kit, {
    name: 'Grep',
    description:
      'Searches files with a regular expression. Files that .gitignore names, node_modules, .git and binary files are left out.',
    input,
    isParallel: true,
    isReproducible: true,
    plan: async (given, context) => {
      const place = await kit.workspace.place(given.path ?? '.')
      return {
        access: { type: 'read', tool: 'Grep', place },
        title: `Grep ${given.pattern} in ${place.shown}`,
        run: () => grep(kit, { given, place, context, ripgrep }),
      }
    },
  })
}

type Grep = {
  readonly given: GrepInput
  readonly place: Place
  readonly context: ToolContext
  readonly ripgrep: string | undefined
}

async function grep(kit: Kit, { given, place, context, ripgrep }: Grep): Promise<ToolOutput> {
  const { pattern, multiline = false, output_mode: mode = 'files_with_matches', type } = given
  if (type !== undefined && !Object.hasOwn(fileTypes, type)) {
    return failed(`Unknown file type ${type}. Known: ${Object.keys(fileTypes).join(', ')}. Or use glob.`)
  }
  const listed = await filesIn(kit, place, context.signal)
  if (typeof listed === 'string') return failed(listed)
  const files = listed.files.filter(filterFor(given, place))
  const wanted = { files, pattern, ignoreCase: given['-i'] ?? false, multiline, most: maxMatches }
  const found = await search(wanted, { signal: context.signal, ripgrep })
  if (found.type === 'failed') return failed(`The search failed: ${found.why}`)
  const order = mode === 'files_with_matches' ? await newestFirst(found.matches.map(({ file }) => file)) : []
  const results = { kit, given, matches: found.matches, isCut: found.isCut || listed.isCut }
  const text =
    mode === 'content' ? contentText(results) : mode === 'count' ? countText(results) : filesText(results, order)
  return { content: kit.redactor.text(text) }
}

async function filesIn(kit: Kit, place: Place, signal: AbortSignal) {
  const found = await statOrProblem(place)
  if (typeof found === 'string') return found
  if (!found.isFolder) return { files: [place.real], isCut: false }
  const { hidden, isSecret } = kit.permissions
  const isHidden = hidden()
  const isLeftOut = (path: string) => isHidden(path) || isSecret(path)
  return walk(place.real, { root: kit.workspace.realRoot, signal, isHidden: isLeftOut })
}

/** A glob without a slash is about names, one with a slash about paths. */
function filterFor({ glob: pattern, type }: GrepInput, { real }: Place): (file: string) => boolean {
  const endings = type === undefined ? undefined : fileTypes[type]
  const matches = pattern === undefined ? undefined : pathGlob(pattern)
  return (file) => {
    if (endings && !endings.some((ending) => file.endsWith(ending))) return false
    return matches?.(relative(real, file).replaceAll(sep, '/') || basename(file)) ?? true
  }
}

function pathGlob(pattern: string): (path: string) => boolean {
  if (pattern.startsWith('!')) {
    const { below } = ignoreGlob(pattern.slice(1))
    return (path) => !below(path)
  }
  return pattern.includes('/') ? glob(pattern.replace(/^\.?\//, '')) : ignoreGlob(pattern).own
}
