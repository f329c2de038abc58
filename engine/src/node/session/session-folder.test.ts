// Files of a session stay in its folder: a symbolic link in the way could lead anywhere.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLedger } from '../../core/ledger/ledger.ts'
import { offline } from '../../models/offline.ts'
import { createEngine } from '../../node-engine.ts'
import { jsonlSessions } from '../../stores/disk/jsonl.ts'
import { hooksFor } from '../hooks/hooks.ts'
import { storeResults } from '../write/keep-results.ts'
import { openMemory } from './session-memory.ts'

let folder = ''
let victim = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-session-'))
  victim = mkdtempSync(join(tmpdir(), 'everlong-victim-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
  rmSync(victim, { recursive: true })
})

const transcript = () => join(folder, 's.jsonl')

function extract() {
  return openMemory(transcript()).extract({
    conversation: { source: 'session-memory', model: 'm', messages: [] },
    messages: [{ role: 'user', origin: 'human', content: 'Find the heron.' }],
    ledger: createLedger().ledger(),
    model: offline(),
    countTokens: (text) => text.length / 4,
  })
}

async function keepLongOutput() {
  const hooks = hooksFor(
    { settings: { PreCompact: [{ hooks: [{ type: 'command', command: 'head -c 20000 /dev/zero | tr "\\\\0" x' }] }] } },
    { id: 's', path: transcript(), cwd: folder },
  )
  return hooks.run({ event: 'PreCompact', trigger: 'manual', instructions: '' })
}

async function startSubagent() {
  const session = await createEngine({ model: offline() }).start({ path: transcript() })
  try {
    await (await session.subagent()).close()
  } finally {
    await session.close()
  }
}

async function startStoredSubagent() {
  const session = await createEngine({ model: offline(), store: jsonlSessions({ folder }) }).start({ id: 's' })
  try {
    await (await session.subagent()).close()
  } finally {
    await session.close()
  }
}

/** Code that writes next to a session, and its folder. */
const writers: readonly (readonly [string, string, () => unknown])[] = [
  ['results', 'tool-results', () => storeResults(transcript(), [{ toolUseId: 't', content: 'x' }])],
  ['notes', 'session-memory', extract],
  [
    'the progress of notes',
    'session-memory',
    () => {
      openMemory(transcript()).saveProgress({ failures: 0 })
    },
  ],
  ['the output of hooks', 'hook-output', keepLongOutput],
  ['sub-agents', 'subagents', startSubagent],
  ['sub-agents of a session in a folder', 'subagents', startStoredSubagent],
]

/** Runs it and returns the failure, whether returned or thrown. */
async function outcomeOf(write: () => unknown): Promise<string> {
  try {
    return JSON.stringify(await write()) ?? ''
  } catch (error) {
    return String(error)
  }
}

describe.for(writers)('%s', ([, name, write]) => {
  test('are written beside the session', async () => {
    await write()
    expect(readdirSync(join(folder, 's', name)).length).toBeGreaterThan(0)
  })

  test('leave no trace behind a session folder that is a link', async () => {
    symlinkSync(victim, join(folder, 's'))
    expect(await outcomeOf(write)).toContain('is a symbolic link, and Everlong does not write through links')
    expect(readdirSync(victim)).toEqual([])
  })

  test('leave no trace behind a link one level below', async () => {
    const place = join(folder, 's', name)
    mkdirSync(dirname(place))
    symlinkSync(victim, place)
    expect(await outcomeOf(write)).toContain('is a symbolic link, and Everlong does not write through links')
    expect(readdirSync(victim)).toEqual([])
  })
})

test('a linked file of notes is replaced, not written through', async () => {
  const own = join(victim, 'own.txt')
  writeFileSync(own, 'mine')
  mkdirSync(join(folder, 's', 'session-memory'), { recursive: true })
  symlinkSync(own, join(folder, 's', 'session-memory', 'summary.md'))
  expect(await extract()).toMatchObject({ type: 'extracted' })
  expect(readFileSync(own, 'utf8')).toBe('mine')
})
