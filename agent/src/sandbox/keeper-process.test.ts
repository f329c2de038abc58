// The keeper ends with the program that started it, however that ends, and leaves nothing in the temporary folder.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { whyNoSandbox } from '../testing/sandbox.ts'

const why = await whyNoSandbox()
const program = fileURLToPath(new URL('../testing/keeper-program.ts', import.meta.url))

test.skipIf(why !== undefined).each([
  ['is killed', 'SIGKILL', 'alone'],
  ['is killed with its terminal', 'SIGHUP', 'group'],
  ['is interrupted with its children', 'SIGINT', 'group'],
  ['is ended with its children', 'SIGTERM', 'group'],
] as const)(
  'nothing is left of a sandbox whose program %s',
  async (_, signal, whom) => {
    const folder = mkdtempSync(join(tmpdir(), 'everlong-keeper-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const child = spawn(process.execPath, [program], { env: { ...process.env, TMPDIR: folder }, detached: true })
    const [text] = await once(child.stdout, 'data')
    expect(String(text)).toBe('ready\n')
    expect(readdirSync(folder).map((name) => name.replace(/-\w+(?:-\d+\.sock)?$/, ''))).toContain('everlong-sandbox')
    process.kill(whom === 'group' ? -(child.pid ?? 0) : (child.pid ?? 0), signal)
    await expect.poll(() => readdirSync(folder), { timeout: 30_000, interval: 100 }).toEqual([])
  },
  60_000,
)
