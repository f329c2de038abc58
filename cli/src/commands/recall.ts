// `everlong recall FILE [QUERY]`: searches the archive of a session or a folder of them, or reads one text of it.
import { type Archive, cardText, openArchive, parseSearch } from 'everlong/node'

export type RecallArguments = {
  /** A transcript, or a folder of them. */
  readonly file: string
  readonly query?: string
  readonly tool?: string
  readonly path?: string
  readonly kind?: string
  readonly epoch?: string | number
  readonly since?: string
  readonly until?: string
  readonly limit?: string | number
  /** The id of what is to be read; then nothing is searched. */
  readonly read?: string
  readonly json?: boolean
}

export type Output = { readonly write: (text: string) => unknown; readonly isTTY?: boolean }
export type Streams = { readonly stdout: Output; readonly stderr: Output }

/** Returns the exit code: 0 when something was found, 1 when nothing was or something went wrong. */
export function recall(options: RecallArguments, streams: Streams): number {
  let archive: Archive | undefined
  try {
    archive = openArchive(options.file, { onProgress: progressTo(streams.stderr) })
    return options.read === undefined
      ? search(archive, options, streams)
      : read(archive, options.read, { ...options, ...streams })
  } catch (error) {
    return fail(streams, error instanceof Error ? error.message : String(error))
  } finally {
    archive?.close()
  }
}

function search(archive: Archive, options: RecallArguments, streams: Streams): number {
  const { epoch, limit, file: _, read: __, json, ...rest } = options
  const request = parseSearch({ ...rest, epoch: numberFrom(epoch), limit: numberFrom(limit) })
  if (request.type === 'refused') return fail(streams, request.reason)
  const result = archive.search(request.query)
  if (json) streams.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  else {
    if (result.matched === 'any') streams.stderr.write('Nothing has all of the words; these have some of them.\n')
    for (const [at, match] of result.matches.entries()) streams.stdout.write(`${cardText(match, at + 1)}\n`)
    if (result.more) streams.stderr.write('There are more: narrow the search, or ask for more with --limit.\n')
  }
  if (result.matches.length > 0) return 0
  return json ? 1 : fail(streams, 'Nothing was found.')
}

/** What is no number is handed on as it is, so that it is told what is wrong with it. */
function numberFrom(value: string | number | undefined): unknown {
  return typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value)) ? Number(value) : value
}

function read(archive: Archive, id: string, { json, stdout, stderr }: Streams & { readonly json?: boolean }): number {
  const reading = archive.read(id)
  if (reading === undefined) return fail({ stdout, stderr }, `Nothing in the archive has the id ${JSON.stringify(id)}.`)
  if (json) stdout.write(`${JSON.stringify(reading, null, 2)}\n`)
  else stdout.write(`${stdout.isTTY ? harmless(reading.text) : reading.text}\n`)
  return 0
}

/** For a screen: without the characters by which a text could take it over. Into a file goes the text as it is. */
function harmless(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
}

function progressTo(stderr: Output): (done: number, all: number) => void {
  return (done, all) => {
    if (stderr.isTTY)
      stderr.write(`\rIndexing: ${Math.floor((100 * done) / Math.max(1, all))} %${done >= all ? '\r\u001b[K' : ''}`)
  }
}

function fail({ stderr }: Streams, reason: string): number {
  stderr.write(`${reason.split('\n')[0]}\n`)
  return 1
}
