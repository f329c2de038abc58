// Output of libraries while the screen was drawn: written to a log of limited size, and shown once as a notice.
import { appendFileSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasonOf } from '../reason-of.ts'
import { oneLine, safeText } from '../render/safe.ts'
import { cut } from '../render/width.ts'

export type Printed = {
  readonly add: (text: string) => void
  /** Call it when the session is open. Earlier output is written then. */
  readonly logTo: (path: string) => void
}

const maxLogBytes = 1_000_000
const maxNotices = 5
const maxNoticeColumns = 400

export function createPrinted(notify: (text: string) => void): Printed {
  const seen = new Set<string>()
  let notices = 0
  let waiting = ''
  let write = (text: string): void => {
    waiting = (waiting + text).slice(0, maxLogBytes)
  }
  const notice = (text: string): void => {
    const lines = safeText(text)
      .split('\n')
      .map(oneLine)
      .filter((line) => line !== '' && !seen.has(line))
    if (lines.length === 0 || notices >= maxNotices) return
    for (const line of lines) seen.add(line)
    notices++
    const more = notices === maxNotices ? ' More output only goes to the log.' : ''
    notify(`A library printed: ${cut(lines.join(' '), maxNoticeColumns)}${more}`)
  }
  return {
    add: (text) => {
      write(text)
      notice(text)
    },
    logTo: (path) => {
      write = createLog(path, (why) => notify(`The output of libraries is not logged: ${why}`))
      if (waiting !== '') write(waiting)
      waiting = ''
    },
  }
}

/** Appends until the file is full; a problem is reported once and ends the log. */
function createLog(path: string, onProblem: (why: string) => void): (text: string) => void {
  let isOpen = true
  return (text) => {
    if (!isOpen) return
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      const room = maxLogBytes - (statSync(path, { throwIfNoEntry: false })?.size ?? 0)
      const bytes = Buffer.from(text)
      isOpen = bytes.length <= room
      if (room > 0) appendFileSync(path, bytes.subarray(0, room), { mode: 0o600 })
    } catch (error) {
      isOpen = false
      onProblem(reasonOf(error))
    }
  }
}
