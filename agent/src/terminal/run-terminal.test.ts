import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { runTerminal } from './run-terminal.ts'

/** What is printed for these lines of input. */
async function printedFor(lines: readonly string[]): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'everlong-plain-'))
  const places = { folder: join(root, 'project'), home: join(root, 'home') }
  for (const place of Object.values(places)) mkdirSync(place)
  const stdout = new PassThrough()
  const printed = text(stdout)
  const exitCode = await runTerminal({
    worker: new URL('./testing/play-worker.ts', import.meta.url),
    data: places,
    folder: places.folder,
    stdin: Readable.from(lines.map((line) => `${line}\n`)),
    stdout: stdout as never,
    env: {},
    isPlain: true,
    historyFile: join(places.home, 'history'),
    leaving: () => 'Left the session.',
  })
  stdout.end()
  rmSync(root, { recursive: true, force: true })
  expect(exitCode).toBe(0)
  return printed
}

test('whoever leaves is told how to come back if anything was said', async () => {
  const [silent, spoken] = await Promise.all([printedFor([]), printedFor(['say Hello there.'])])
  expect(spoken).toMatch(/Hello there\.[\s\S]*\nLeft the session\.\n$/)
  expect(silent).not.toContain('Left the session.')
})
