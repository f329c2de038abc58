// Grep over in-memory files. A pattern comes from a model, so it may be broken or extremely slow. Both get an answer instead of a
// run.
import { posix } from 'node:path'
import { isObject, numberAt, stringAt } from 'everlong/internal'
import { stringInput } from './tool-names.ts'
import { done, failed, pathIn, type ToolResult, type Workspace } from './workspace.ts'

const maxPattern = 500
const maxLine = 1_000
const maxLines = 2_000

type Match = { readonly path: string; readonly line: number; readonly text: string }

export function grep(workspace: Workspace, input: unknown): ToolResult {
  const written = stringInput(input, 'pattern')
  if (written === undefined) return failed('InputValidationError: Grep needs a pattern.')
  const ignoreCase = isObject(input) && input['-i'] === true
  const pattern = compiled(written, ignoreCase)
  if (typeof pattern === 'string') return failed(pattern)
  const under = pathIn(workspace.repository, stringAt(input, 'path') ?? '')
  const fits = globTest(stringAt(input, 'glob'))
  const matches: Match[] = []
  for (const [path, content] of workspace.files) {
    if (!(under === '' || path === under || path.startsWith(`${under}/`)) || !fits(path)) continue
    for (const [index, text] of content.split('\n').entries()) {
      if (pattern.test(text.slice(0, maxLine))) matches.push({ path, line: index + 1, text })
    }
  }
  const limit = Math.max(1, numberAt(input, 'head_limit') ?? maxLines)
  return done(
    rendered(matches, stringAt(input, 'output_mode') ?? 'files_with_matches')
      .slice(0, limit)
      .join('\n'),
  )
}

function rendered(matches: readonly Match[], mode: string): readonly string[] {
  if (matches.length === 0) return ['No matches found']
  if (mode === 'content') return matches.map((match) => `${match.path}:${match.line}:${match.text}`)
  const byPath = Map.groupBy(matches, (match) => match.path)
  if (mode === 'count') return [...byPath].map(([path, list]) => `${path}:${list.length}`)
  return [`Found ${byPath.size} files`, ...byPath.keys()]
}

/** The compiled pattern, or the reason against it. Nested repetitions can run for years on one line. */
function compiled(written: string, ignoreCase: boolean): RegExp | string {
  if (written.length > maxPattern) return `regex parse error: longer than ${maxPattern} characters`
  if (/\([^()]*[+*}][^()]*\)\s*[+*{]/.test(written)) return 'regex parse error: nested repetition is not supported'
  try {
    return new RegExp(written, ignoreCase ? 'i' : '')
  } catch (error) {
    return `regex parse error: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** A glob without a slash matches the name alone. */
function globTest(glob: string | undefined): (path: string) => boolean {
  if (!glob) return () => true
  return (path) => posix.matchesGlob(glob.includes('/') ? path : posix.basename(path), glob)
}
