// The line on stderr during a compaction: phase, tokens so far, time; Esc stops it. Only on a terminal, and removed at the end.

import { clearLine, cursorTo } from 'node:readline'
import { compactionPhases, count, cut } from '@everlong/agent/render'
import type { EngineEvent } from 'everlong'
import type { Io } from '../../io.ts'

export type CompactProgress = {
  readonly onEvent: (event: EngineEvent) => void
  readonly signal: AbortSignal
  readonly end: () => void
}

export function createCompactProgress(io: Io): CompactProgress {
  const { stderr, now } = io
  const controller = new AbortController()
  const release = onEscape(io, () => controller.abort())
  const started = now()
  let phase = ''
  let tokens = 0
  const isTerminal = stderr.isTTY === true
  const show = (): void => {
    if (!isTerminal || phase === '') return
    const seconds = Math.round((now() - started) / 1_000)
    cursorTo(stderr, 0)
    const line = `${phase}${tokens > 0 ? `, ${count(tokens)} tokens` : ''}, ${seconds} s  (Esc to stop)`
    stderr.write(cut(line, (stderr.columns ?? 80) - 1))
    clearLine(stderr, 1)
  }
  const ticking = isTerminal ? setInterval(show, 1_000) : undefined
  return {
    signal: controller.signal,
    onEvent: (event) => {
      if (event.type !== 'compaction-progressed') return
      phase = compactionPhases[event.phase]
      tokens = event.outputTokens ?? (event.phase === 'summarizing' ? tokens : 0)
      show()
    },
    end: () => {
      clearInterval(ticking)
      release()
      if (!isTerminal || phase === '') return
      cursorTo(stderr, 0)
      clearLine(stderr, 0)
    },
  }
}

/** Single keys arrive only in raw mode, where Ctrl-C is an ordinary key. */
function onEscape({ stdin, stderr }: Io, stop: () => void): () => void {
  const terminal = stdin as Partial<NodeJS.ReadStream>
  if (stderr.isTTY !== true || terminal.isTTY !== true || !terminal.setRawMode) return () => undefined
  const listen = (bytes: Buffer): void => {
    if (bytes.includes(0x03) || (bytes[0] === 0x1b && bytes.length === 1)) stop()
  }
  terminal.setRawMode(true)
  stdin.on('data', listen)
  stdin.resume()
  return () => {
    stdin.off('data', listen)
    stdin.pause()
    terminal.setRawMode?.(false)
  }
}
