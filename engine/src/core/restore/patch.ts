// Reads edits, writes and patches (in the format of Codex's apply_patch) as replacements of text in files. It applies
// nothing.
import { arrayAt, isObject, stringAt } from '../message/json.ts'

export type Replacement = { readonly before: string; readonly after: string; readonly isAll: boolean }

export type PatchedFile = {
  readonly path: string
  /** A new file's whole text; else what is replaced. */
  readonly text?: string
  readonly replacements: readonly Replacement[]
}

/** What an edit tool was asked to replace, in the spellings of well-known agents. */
export function replacementsOf(input: unknown): readonly Replacement[] {
  const list = arrayAt(input, 'edits').filter(isObject)
  return (list.length > 0 ? list : [input]).flatMap((edit) => {
    const before = stringAt(edit, 'old_string') ?? stringAt(edit, 'old_str') ?? stringAt(edit, 'oldText')
    const after = stringAt(edit, 'new_string') ?? stringAt(edit, 'new_str') ?? stringAt(edit, 'newText')
    if (before === undefined || after === undefined || before === '') return []
    return [{ before, after, isAll: isObject(edit) && edit.replace_all === true }]
  })
}

/** The whole text that a write tool was given. */
export function writtenText(input: unknown): string | undefined {
  return stringAt(input, 'content') ?? stringAt(input, 'file_text')
}

export function patchedFiles(input: unknown): readonly PatchedFile[] {
  const texts = isObject(input) ? Object.values(input).flat() : [input]
  const patch = texts.find((text) => typeof text === 'string' && text.includes('*** Begin Patch'))
  if (typeof patch !== 'string') return []
  const parts = patch.split(/^\*\*\* (?=(?:Add|Update|Delete) File: )/m).slice(1)
  return parts.flatMap((part) => {
    const [head = '', ...lines] = part.split('\n')
    const match = /^(Add|Update) File: (.+)$/.exec(head.trim())
    if (!match) return []
    const path = (match[2] ?? '').trim()
    const body = lines.filter((line) => !line.startsWith('*** '))
    if (match[1] === 'Add') return [{ path, text: marked(body, '+').join('\n'), replacements: [] }]
    return [{ path, replacements: hunksOf(body).map(replacementOf) }]
  })
}

function hunksOf(lines: readonly string[]): readonly (readonly string[])[] {
  const hunks: string[][] = [[]]
  for (const line of lines) {
    if (line.startsWith('@@')) hunks.push([])
    else hunks.at(-1)?.push(line)
  }
  return hunks.filter((hunk) => hunk.some((line) => /^[+-]/.test(line)))
}

function replacementOf(hunk: readonly string[]): Replacement {
  return { before: marked(hunk, ' -').join('\n'), after: marked(hunk, ' +').join('\n'), isAll: false }
}

/** The lines that carry one of these marks, without it. */
function marked(lines: readonly string[], marks: string): readonly string[] {
  return lines.filter((line) => line !== '' && marks.includes(line[0] ?? '')).map((line) => line.slice(1))
}
