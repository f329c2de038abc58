// The progress line on stderr: only on a terminal, only when the work takes a while, and gone without a trace when it
// is over or interrupted.

import { clearLine, cursorTo } from 'node:readline'
import { bytes, cut, padEnd } from '@everlong/agent/render'
import type { Io } from './io.ts'
import { bar } from './render/bar.ts'

export type Progress = {
  readonly show: (done: number, all: number, note?: string) => void
  readonly clear: () => void
}

const firstAfter = 300
const nextAfter = 80
const barColumns = 30

export function createProgress({ stderr, now }: Io): Progress {
  if (stderr.isTTY !== true) return { show: () => undefined, clear: () => undefined }
  let nextAt = now() + firstAfter
  let isShown = false
  return {
    show: (done, all, note = '') => {
      const time = now()
      if (time < nextAt) return
      nextAt = time + nextAfter
      const share = all === 0 ? 1 : done / all
      const figures = `${Math.floor(share * 100)} %  ${bytes(done)} of ${bytes(all)}  ${note}`
      cursorTo(stderr, 0)
      stderr.write(cut(`${padEnd(bar(share, barColumns), barColumns)}  ${figures}`, (stderr.columns || 80) - 1))
      clearLine(stderr, 1)
      isShown = true
    },
    clear: () => {
      if (!isShown) return
      cursorTo(stderr, 0)
      clearLine(stderr, 0)
      isShown = false
    },
  }
}
