// Read: a text file with line numbers, a part of one, or an image.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { z } from 'zod'
import type { Place } from '../files/paths.ts'
import { binaryKind, imageType } from '../files/text-file.ts'
import type { AnyTool, ToolContext, ToolOutput } from '../tool.ts'
import { failed, guardedTool, type Kit, problemOf } from './kit.ts'
import { hashOf } from './read-files.ts'
import { readRange } from './read-range.ts'
import { similarNames } from './similar-names.ts'

/** Larger files are read in parts. */
const maxWholeBytes = 256 * 1024
const maxImageBytes = 3_750_000
/** No file that an agent edits is larger. */
const maxFileBytes = 64 * 1024 * 1024

const input = z.object({
  file_path: z.string().min(1).describe('The file: absolute, or relative to the workspace.'),
  offset: z.int().min(0).optional().describe('The first line to read, counted from 1.'),
  limit: z.int().min(1).max(10_000).optional().describe('How many lines to read. Default: up to 2,000.'),
})

type Input = z.infer<typeof input>

export function readTool(kit: Kit): AnyTool {
  return guardedTool<Input>(kit, {
    name: 'Read',
    description:
      'Reads a file. Text comes with line numbers; give offset and limit for a part of a long file. Images (PNG, JPEG, GIF, WebP) are shown.',
    input,
    isParallel: true,
    isReproducible: true,
    plan: async (given, context) => {
      const place = await kit.workspace.place(given.file_path)
      return {
        access: { type: 'read', tool: 'Read', place },
        title: `Read ${place.shown}`,
        run: () => read(kit, { given, place, context }),
      }
    },
  })
}

type Reading = { readonly given: Input; readonly place: Place; readonly context: ToolContext }

async function read(kit: Kit, reading: Reading): Promise<ToolOutput> {
  const { place } = reading
  let file: Awaited<ReturnType<typeof open>>
  try {
    // A pipe would wait for a writer, and a link that appeared since the check is not followed.
    file = await open(place.real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0))
  } catch (error) {
    return failed(`${problemOf(error, place.shown)}${await similarNames(place)}`)
  }
  try {
    const stats = await file.stat()
    if (stats.isDirectory()) return failed(`${place.shown} is a folder. List its files with Glob, pattern "*".`)
    if (!stats.isFile()) return failed(`${place.shown} is not a regular file and cannot be read.`)
    if (stats.size > maxFileBytes) {
      return failed(
        `${place.shown} has ${sizeText(stats.size)}, too much for Read. Use Grep, or Bash with head, tail or sed -n.`,
      )
    }
    const bytes = await file.readFile()
    const image = imageType(bytes)
    if (image) return showImage(place, bytes, image)
    const kind = binaryKind(bytes)
    if (kind !== undefined) return failed(`${place.shown} is a binary file (${kind}, ${sizeText(bytes.length)}).`)
    return await showText(kit, reading, bytes)
  } finally {
    await file.close()
  }
}

function showImage({ shown }: Place, bytes: Buffer, media_type: string): ToolOutput {
  if (bytes.length > maxImageBytes) {
    return failed(
      `${shown} is an image of ${sizeText(bytes.length)}, more than the ${sizeText(maxImageBytes)} that can be shown. Make a smaller copy first.`,
    )
  }
  return {
    content: [{ type: 'image', source: { type: 'base64', media_type, data: bytes.toString('base64') } }],
    details: { type: 'image', file: { filePath: shown, type: media_type, originalSize: bytes.length } },
  }
}

async function showText(kit: Kit, { given, place, context }: Reading, bytes: Buffer): Promise<ToolOutput> {
  const { offset, limit } = given
  const isWhole = offset === undefined && limit === undefined
  if (isWhole && bytes.length > maxWholeBytes) return failed(tooLarge(place, bytes.length))
  const files = kit.readFiles(context.session)
  const key = `${place.real}\n${offset ?? ''}\n${limit ?? ''}`
  const hash = hashOf(bytes)
  const earlier = files.stillShown(key, hash)
  const fileState = await files.note(place.real, bytes)
  if (earlier !== undefined)
    return {
      content: `${place.shown} is unchanged since you read it: its text is ${earlier}.`,
      details: { type: 'file_unchanged', file: { filePath: place.path }, fileState },
    }
  const range = readRange(kit.redactor.text(bytes.toString('utf8')), { offset, limit })
  if (range.type === 'beyond') return failed(`${place.shown} has ${range.lines} lines: there is no line ${offset}.`)
  const { text, first, count, lines } = range
  files.noteShown(key, { hash, toolUseId: context.toolUseId, name: given.file_path, text })
  const file = { filePath: place.path, startLine: first, numLines: count, totalLines: lines }
  return { content: text, details: { type: 'text', file, fileState } }
}

function tooLarge({ shown }: Place, size: number): string {
  return `${shown} has ${sizeText(size)}, too much to read at once. Search it with Grep, or read a part of it with offset and limit.`
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  const kilobytes = bytes / 1024
  return kilobytes < 1024 ? `${kilobytes.toFixed(1)} KB` : `${(kilobytes / 1024).toFixed(1)} MB`
}
