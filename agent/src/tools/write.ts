// Write: creates a file, or replaces the text of one that was read and has not changed since.
import { lstat, readFile } from 'node:fs/promises'
import { z } from 'zod'
import { codeOf, type Place } from '../files/paths.ts'
import { createText, decodeText, replaceText } from '../files/text-file.ts'
import type { AnyTool, ToolContext, ToolOutput } from '../tool.ts'
import { diffOf } from './diff.ts'
import { failed, guardedTool, type Kit, problemOf } from './kit.ts'
import type { FileState } from './read-files.ts'

const input = z.object({
  file_path: z.string().min(1).describe('The file: absolute, or relative to the workspace.'),
  content: z.string().max(10_000_000).describe('The whole text of the file.'),
})

export function writeTool(kit: Kit): AnyTool {
  return guardedTool<z.infer<typeof input>>(kit, {
    name: 'Write',
    description:
      'Writes a whole file, and makes its folders. A file that exists must have been read first. Prefer Edit to change a part.',
    input,
    plan: async ({ file_path, content }, context) => {
      const place = await kit.workspace.place(file_path)
      const before = await textBefore(kit, place, context)
      if (before.type === 'refused') return failed(before.why)
      const { text } = before
      const diff = diffOf(place.shown, text ?? '', content)
      return {
        access: { type: 'write', tool: 'Write', place },
        title: `${text === undefined ? 'Create' : 'Write'} ${place.shown}`,
        detail: { type: 'diff', text: diff.text },
        run: () => write(kit, { place, content, context, isNew: text === undefined, diff }),
      }
    },
  })
}

type TextBefore =
  | { readonly type: 'text'; readonly text: string | undefined }
  | { readonly type: 'refused'; readonly why: string }

/** The present text of the file, if it may be replaced. Undefined if there is no file. */
export async function textBefore(kit: Kit, { real, shown }: Place, { session }: ToolContext): Promise<TextBefore> {
  try {
    if (!(await lstat(real)).isFile()) return { type: 'refused', why: `${shown} is not a file that can be written.` }
    const why = await kit.readFiles(session).problem(real, shown)
    if (why !== undefined) return { type: 'refused', why }
    const text = decodeText(await readFile(real))
    if (text !== undefined) return { type: 'text', text }
    return { type: 'refused', why: `${shown} is not UTF-8 text: changing it here would damage it. Use a command.` }
  } catch (error) {
    return codeOf(error) === 'ENOENT'
      ? { type: 'text', text: undefined }
      : { type: 'refused', why: problemOf(error, shown) }
  }
}

type Writing = {
  readonly place: Place
  readonly content: string
  readonly context: ToolContext
  readonly isNew: boolean
  readonly diff: ReturnType<typeof diffOf>
}

/** The file must still be in the planned state, whatever happened while the person was asked. */
export async function write(kit: Kit, { place, content, context, isNew, diff }: Writing): Promise<ToolOutput> {
  const { real, shown } = place
  const files = kit.readFiles(context.session)
  let fileState: FileState
  try {
    if (isNew) await createText(real, content)
    else {
      const why = await files.problem(real, shown)
      if (why !== undefined) return failed(why)
      await replaceText(real, content)
    }
    fileState = await files.note(real, content)
  } catch (error) {
    return failed(problemOf(error, shown))
  }
  const { added, removed, text } = diff
  const what = isNew
    ? `Created ${shown} (${added} ${added === 1 ? 'line' : 'lines'}).`
    : `Changed ${shown} (+${added} −${removed} lines).`
  return { content: what, details: { type: isNew ? 'create' : 'update', filePath: place.path, diff: text, fileState } }
}
