// Reads patches as edits of files: apply_patch and unified diffs.

/** `before` is empty if text was inserted without saying where. */
export type TextEdit = { readonly before: string; readonly after: string; readonly isAll: boolean }

export type PatchedFile = {
  readonly path: string
  readonly act: 'created' | 'edited' | 'deleted'
  /** The whole text of a new file. */
  readonly text?: string
  readonly edits: readonly TextEdit[]
}

/** The inserted lines, without the unchanged lines around them. */
export function addedLines(edits: readonly TextEdit[]): readonly string[] {
  return edits.flatMap(({ before, after }) => {
    const old = new Set(before.split('\n'))
    return after.split('\n').filter((line) => line.trim() !== '' && !old.has(line))
  })
}

export function readPatch(patch: string): readonly PatchedFile[] {
  const parts = patch.split(/^\*\*\* (?=(?:Add|Update|Delete) File: )/m).slice(1)
  return parts.length > 0 ? parts.flatMap(readPart) : readDiff(patch)
}

function readPart(part: string): readonly PatchedFile[] {
  const [heading = '', ...lines] = part.split('\n')
  const [, verb, path] = /^(Add|Update|Delete) File: +(\S.*)$/.exec(heading.trim()) ?? []
  if (path === undefined) return []
  const deleted: PatchedFile = { path, act: 'deleted', edits: [] }
  if (verb === 'Delete') return [deleted]
  const body = lines.filter((line) => !line.startsWith('*** '))
  if (verb === 'Add') return [{ path, act: 'created', text: marked(body, '+').join('\n'), edits: [] }]
  const edits = editsIn(body)
  const moved = lines
    .find((line) => line.startsWith(movedTo))
    ?.slice(movedTo.length)
    .trim()
  return moved ? [deleted, { path: moved, act: 'edited', edits }] : [{ path, act: 'edited', edits }]
}

const movedTo = '*** Move to:'

function readDiff(diff: string): readonly PatchedFile[] {
  const [, ...parts] = diff.split(/^--- (?=.*\n\+\+\+ )/m)
  return parts.flatMap((part): readonly PatchedFile[] => {
    const [from = '', to = '', ...lines] = part.split('\n')
    const [before, after] = [nameIn(from), nameIn(to.slice('+++ '.length))]
    if (after === '/dev/null') return [{ path: before, act: 'deleted', edits: [] }]
    const edits = editsIn(lines)
    if (before !== '/dev/null') return [{ path: after, act: 'edited', edits }]
    return [{ path: after, act: 'created', text: edits.map((edit) => edit.after).join('\n'), edits: [] }]
  })
}

/** Removes git's `a/` and `b/`, and the time that diff writes after a tab. */
function nameIn(line: string): string {
  return (line.split('\t')[0] ?? '').trim().replace(/^[ab]\//, '')
}

function editsIn(lines: readonly string[]): readonly TextEdit[] {
  const hunks: string[][] = [[]]
  for (const line of lines) {
    if (line.startsWith('@@')) hunks.push([])
    else hunks.at(-1)?.push(line)
  }
  return hunks
    .filter((hunk) => hunk.some((line) => /^[+-]/.test(line)))
    .map((hunk) => ({
      before: marked(hunk, ' -').join('\n'),
      after: marked(hunk, ' +').join('\n'),
      isAll: false,
    }))
}

/** The lines that start with one of these marks, without the mark. */
function marked(lines: readonly string[], marks: string): readonly string[] {
  return lines.filter((line) => line !== '' && marks.includes(line[0] ?? '')).map((line) => line.slice(1))
}
