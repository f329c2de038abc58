// The messages of a prompt: its text, its images, and the files that it names with `@path`. The tools read the files, so
// permissions, hooks and limits apply, and the files count as read.
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { MessageInput } from 'everlong'
import { blocksOf, textOf } from 'everlong/internal'
import type { Session } from 'everlong/node'
import type { Prompt } from './app.ts'
import type { LoopEvent } from './events.ts'
import { expandHome } from './files/paths.ts'
import { runTools, type ToolRun } from './run-tools.ts'
import type { AnyTool } from './tool.ts'
import { fileTitle } from './tools/read-files.ts'

export type Attaching = {
  readonly folder: string
  readonly session: Session
  readonly tools: readonly AnyTool[]
  readonly signal: AbortSignal
  readonly emit: (event: LoopEvent) => void
}

/** One message per file or folder that the text names, in order and without duplicates. */
export async function attachedFiles(text: string, attaching: Attaching): Promise<readonly MessageInput[]> {
  const { folder, tools } = attaching
  const named = filesNamed(text, folder).filter(({ isFolder }) => tools.some(({ name }) => name === toolFor(isFolder)))
  const calls = named.map(({ name, isFolder }) => ({
    type: 'tool_use' as const,
    id: `person_${randomUUID()}`,
    name: toolFor(isFolder),
    input: isFolder ? { pattern: '**', path: name } : { file_path: name },
  }))
  const runs = await runTools({ ...attaching, calls })
  return runs.flatMap((run, at) => {
    const each = named[at]
    return each ? [messageOf(each, run)] : []
  })
}

function toolFor(isFolder: boolean): 'Glob' | 'Read' {
  return isFolder ? 'Glob' : 'Read'
}

/** The details tell the engine which file this is, so that a compaction restores it. */
function messageOf({ name, isFolder }: Named, { block, details }: ToolRun): MessageInput {
  const { content, is_error: isError } = block
  const blocks = blocksOf(content as MessageInput['content'] & {})
  if (isError === true) return attachment('File not attached', `@${name} was not attached: ${textOf(blocks)}`)
  const title = isFolder ? `The files in the folder ${name}, which the user named:` : fileTitle(name)
  const isText = blocks.every(({ type }) => type === 'text')
  if (!isText) return { ...attachment('Attached file', ''), content: [{ type: 'text', text: title }, ...blocks] }
  const facts = isFolder || details === undefined ? {} : { toolUseResult: details }
  return { ...attachment('Attached file', `${title}\n\n${textOf(blocks)}`), ...facts }
}

type Named = { readonly name: string; readonly isFolder: boolean }

/** `@path` at the start of a word, or `@"a path"`, if there is such a file or folder: not `me@example.com`, nor `@Injectable()`. */
export function filesNamed(text: string, folder: string): readonly Named[] {
  const names = [...text.matchAll(/(?<![^\s([{"'`,;])@(?:"([^"\n]+)"|([^\s"'`]+))/g)].map(([, quoted, word]) => {
    const possible = quoted === undefined ? withoutSigns(word ?? '') : [quoted]
    return possible.map((name) => ({ name, isFolder: isFolder(name, folder) })).find(isFound)
  })
  const found = names.filter((each) => each !== undefined)
  return found.filter(({ name }, at) => found.findIndex((other) => other.name === name) === at)
}

function isFound(named: { readonly name: string; readonly isFolder: boolean | undefined }): named is Named {
  return named.isFolder !== undefined
}

/** The word, also without trailing punctuation: a path may end a sentence or be in brackets. */
function withoutSigns(word: string): readonly string[] {
  const [signs = ''] = /[.,;:!?)\]}>]*$/.exec(word) ?? []
  return [...signs, ''].map((_, at) => word.slice(0, word.length - at)).filter((name) => name !== '')
}

/** Undefined if there is no such file or folder. */
function isFolder(name: string, folder: string): boolean | undefined {
  try {
    const found = statSync(resolve(folder, expandHome(name)), { throwIfNoEntry: false })
    return found?.isDirectory() ? true : found?.isFile() ? false : undefined
  } catch {
    // Too long, or not permitted: no path that somebody meant.
    return undefined
  }
}

export function attachment(title: string, content: string): MessageInput {
  return { role: 'user', origin: 'attachment', attachment: title, content }
}

export function contentOf({ text, images = [] }: Prompt): MessageInput['content'] & {} {
  if (images.length === 0) return text
  const blocks = images.map(({ mediaType, base64 }) => ({
    type: 'image',
    source: { type: 'base64', media_type: mediaType, data: base64 },
  }))
  return [...blocks, { type: 'text', text }]
}
