// Splits a client's input into lines of limited length. The SDK's transport closes silently if a message is too long; here only
// that message is refused, and the server continues.
import { Transform, type TransformCallback } from 'node:stream'

export type TooLong = {
  readonly bytes: number
  /** Id of the request, if it is the first or last field. */
  readonly id: string | number | undefined
}

/** Number of bytes at both ends of a line in which an id is searched. */
const edge = 1_000

export type LineOptions = {
  readonly maxBytes: number
  /** Called for a line that is too long, which is not passed on. */
  readonly onTooLong: (line: TooLong) => void
  /** Lines that it rejects are not passed on either. */
  readonly isWanted?: (line: Buffer) => boolean
}

/** Passes on whole lines. */
export function boundedLines({ maxBytes, onTooLong, isWanted = () => true }: LineOptions): Transform {
  let parts: Buffer[] = []
  let bytes = 0
  let first = Buffer.alloc(0)
  let last = Buffer.alloc(0)
  const take = (part: Buffer): void => {
    bytes += part.length
    if (first.length < edge) first = Buffer.concat([first, part.subarray(0, edge)])
    last = Buffer.concat([last, part.subarray(-edge)]).subarray(-edge)
    if (bytes <= maxBytes) parts.push(part)
    else parts = []
  }
  const end = (to: Transform): void => {
    const line = Buffer.concat(parts)
    if (bytes <= maxBytes && isWanted(line)) to.push(line)
    if (bytes > maxBytes) onTooLong({ bytes, id: idIn(first.toString(), last.toString().trimEnd()) })
    parts = []
    bytes = 0
    first = Buffer.alloc(0)
    last = Buffer.alloc(0)
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      let from = 0
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        take(chunk.subarray(from, at + 1))
        end(this)
        from = at + 1
      }
      if (from < chunk.length) take(chunk.subarray(from))
      done()
    },
    flush(done: TransformCallback) {
      end(this)
      done()
    },
  })
}

const id = String.raw`"id"\s*:\s*(\d{1,15}|"[^"\\]{0,200}")`
const atStart = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?${id}\s*,`)
const atEnd = new RegExp(String.raw`,\s*${id}\s*\}$`)

/** Directly at the first or the last brace, it can only be the request's own. */
function idIn(first: string, last: string): string | number | undefined {
  const found = (atStart.exec(first) ?? atEnd.exec(last))?.[1]
  return found === undefined ? undefined : JSON.parse(found)
}
