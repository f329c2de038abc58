// Defects of other agents, libraries and gateways in keeping and restoring removed content, each with a test that ours does not
// have it. The sessions are made up.
import { appendFileSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { serialize, session } from '../../testing/index.ts'
import { openArchive } from '../archive/archive.ts'
import { createRecallTool } from '../recall/tool.ts'
import { applyEdits } from '../write/apply-edits.ts'
import { originalResults } from '../write/keep-results.ts'
import { readTranscript } from './transcript.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-peers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const now = Date.parse('2026-03-02T12:00:00.000Z')

function written(results: readonly string[]): string {
  const path = join(folder, `session-${files++}.jsonl`)
  const built = session().user('go')
  for (const [at, content] of results.entries()) built.toolUse(`t${at}`, 'Bash', {}).toolResult(`t${at}`, content)
  writeFileSync(path, built.text)
  return path
}

async function cleared(path: string, toolUseIds: readonly string[]) {
  const file = readTranscript(path)
  const items = toolUseIds.map((toolUseId) => ({ toolUseId, uuids: file.view.sources.flatMap(({ uuids }) => uuids) }))
  const edit = { type: 'clear-results', toolUseIds, recall: true } as const
  const applied = await applyEdits(file, [edit], { owner: 'a test', now, results: originalResults(file, items) })
  if (applied.type !== 'applied') throw new Error(applied.why)
  return applied
}

// Headroom: "reversible" ends after 1,800 seconds and 1,000 entries. gemini-cli: the mask names a file in a folder that is
// cleaned up. LiteLLM and LangChain's live state: nothing is stored at all.
test('an original can be had again however old it is, and without the file beside the session', async () => {
  const path = written(['the only copy'])
  const { stored } = await cleared(path, ['t0'])
  rmSync(stored.folder, { recursive: true })
  utimesSync(path, new Date(0), new Date(0))
  const archive = openArchive(path, { folder: false })
  expect(archive.toolResult('t0')?.content).toBe('the only copy')
  expect(archive.read('t0')?.text).toBe('the only copy')
  archive.close()
})

// Headroom's cache-killers: JSON that is parsed and written again has different spaces and escapes, and 1 for 1.0.
test('a record comes back as it was written, not as we would have written it', () => {
  const path = written(['x'])
  const line =
    '{"type":"user", "uuid":"odd","parentUuid":null,"message":{"role":"user","content":"caf\\u00e9 \\/"},"n":1.0}'
  appendFileSync(path, `${line}\n`)
  const archive = openArchive(path, { folder: false })
  expect(archive.record('odd')?.text).toBe(line)
  archive.close()
})

// codex#41806, #31198: every compaction copies the whole history into the file, which grows to gigabytes.
test('an edit names what it clears and copies none of it', async () => {
  const path = written(['x'.repeat(400_000), 'y'.repeat(400_000)])
  const before = statSync(path).size
  const { bytes } = await cleared(path, ['t0', 't1'])
  expect(statSync(path).size - before).toBe(bytes)
  expect(bytes).toBeLessThan(1_000)
})

// Headroom: the tool that restores originals appears in the list after the first compression and breaks the cache.
test('the recall tool is the same bytes before anything was cleared and after', async () => {
  const path = written(['x'])
  const definition = () => {
    const archive = openArchive(path, { folder: false })
    const { name, description, input_schema } = createRecallTool({ archive })
    archive.close()
    return JSON.stringify({ name, description, input_schema })
  }
  const before = definition()
  await cleared(path, ['t0'])
  expect(definition()).toBe(before)
})

// cc#26771, and the bare "content cleared" of Claude Code and opencode: nothing says where the original is. claude-code-router
// writes a bearer token into the prompt for it, although an id is enough.
test('what replaces a result says how to get it back, and nothing secret', async () => {
  const path = written(['the schema'])
  await cleared(path, ['t0'])
  const { messages } = readTranscript(path).view
  expect(messages[2]?.content).toMatchObject([
    { tool_use_id: 't0', content: '[Old tool result content cleared] Recall it by its id: t0' },
  ])
})

// OpenHarness#191, pi#6832: a broken file stays broken, because every later run starts with it.
test('a session whose calls lost their results opens, is cleared, and continues', async () => {
  const path = written(['a'.repeat(1_000), 'b'.repeat(1_000)])
  const lost = session({ ids: (name) => `late-${name}` })
    .toolUse('lost', 'Bash', {})
    .user('stop')
  appendFileSync(path, lost.records.map(serialize).join(''))
  await cleared(path, ['t0'])
  expect(readTranscript(path).view.edits).toHaveLength(1)
})
