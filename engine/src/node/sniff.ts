// Tells whose transcript a file is from its first lines.
import { decodeLine } from '../core/transcript/decode.ts'
import { type Format, formatOf } from '../core/transcript/formats/reader.ts'
import { readFully } from './tail.ts'

const longestLook = 64 << 20

export function sniffFormat(file: number, size: number): Format {
  for (let length = Math.min(64 << 10, size); ; length = Math.min(length * 8, size)) {
    const buffer = Buffer.allocUnsafeSlow(length)
    readFully(file, buffer, 0)
    const whole = length === size ? length : buffer.lastIndexOf(10)
    for (const line of buffer.toString('utf8', 0, Math.max(whole, 0)).split('\n')) {
      for (const record of decodeLine(line).records) {
        const format = formatOf(record)
        if (format) return format
      }
    }
    if (length === size || length >= longestLook) return 'claude-code'
  }
}
