// Tells whose transcript a file is from its first lines.
import { decodeLine } from '../../core/transcript/format/decode.ts'
import { type Format, formatOf } from '../../core/transcript/format/foreign/reader.ts'
import { readFully } from './tail.ts'

const longestLook = 64 << 20

/** Undefined when nothing in the file looks like a record of a session. */
export function sniffFormat(file: number, size: number): Format | undefined {
  for (let length = Math.min(64 << 10, size); ; length = Math.min(length * 8, size)) {
    const buffer = Buffer.allocUnsafeSlow(length)
    readFully(file, buffer, 0)
    const whole = length === size ? length : buffer.lastIndexOf(10)
    const text = buffer.toString('utf8', 0, Math.max(whole, 0))
    for (const line of text.split('\n')) {
      for (const record of decodeLine(line).records) {
        const format = formatOf(record)
        if (format) return format
      }
    }
    if (length === size) return isFirstRecordTorn(text) ? 'claude-code' : undefined
    if (length >= longestLook) return undefined
  }
}

/** How our own records begin. A crash during the first write leaves a part of one, and nothing else. */
const beginnings = ['{"parentUuid":', '{"type":"']

function isFirstRecordTorn(text: string): boolean {
  return !text.includes('\n') && beginnings.some((start) => text.startsWith(start.slice(0, text.length)))
}
