// What the engine makes of a conversation, sent to the API: any reduction, in any order, repeated, undone, must be a
// request that is taken. Only public names of the engine are used here.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { editRecord, foldEntries, type JsonObject, objectAt, requestMessages, stringAt } from 'everlong/internal'
import { microByCacheEdit, type RequestOptions, type SituationInput, situationOf } from 'everlong/internal/compaction'
import { clientStyles, generateWithTruth, keptLayouts, serialize } from 'everlong/internal/testing'
import {
  type Edit,
  microByIdle,
  microBySize,
  native,
  type Plan,
  type PlanningMechanism,
  snip,
  type View,
} from 'everlong/mechanisms'
import { openArchive } from 'everlong/node'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { Simulator } from './simulator.ts'
import { ask, simulate } from './testing/ask.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-reductions-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const foldOf = (records: readonly JsonObject[]): View =>
  foldEntries(records.map((record, at) => ({ record, position: { line: at + 1, offset: at, length: 1, nth: 0 } })))

/** A transcript that edits are appended to. */
function createTranscript(records: readonly JsonObject[]) {
  const written = [...records]
  const edits: string[] = []
  const append = (edit: Edit): string => {
    const parentUuid = stringAt(written.filter((line) => line.uuid && line.isSidechain !== true).at(-1), 'uuid') ?? null
    const uuid = `edit-${edits.length}`
    edits.push(uuid)
    written.push(editRecord(edit, { uuid, parentUuid, timestamp: '2026-03-03T00:00:00.000Z', sessionId: 's' }))
    return uuid
  }
  return { written, edits, append, view: () => foldOf(written) }
}

const models = ['claude-opus-4-8', 'claude-opus-5-5', 'claude-haiku-4-5', 'claude-fable-5-1'] as const

const anySession = fc.record({
  seed: fc.nat(100_000),
  style: fc.constantFrom(...clientStyles),
  kept: fc.constantFrom(...keptLayouts),
  turns: fc.integer({ min: 1, max: 5 }),
  boundaries: fc.integer({ min: 0, max: 2 }),
  subagents: fc.constantFrom('none' as const, 'inline' as const),
  images: fc.boolean(),
  thinking: fc.constantFrom(0, 0.5, 1),
  parallel: fc.constantFrom(0, 0.5, 1),
  interrupted: fc.constantFrom(0, 0.5),
  microcompact: fc.boolean(),
  model: fc.constantFrom(...models),
  /** So many of the last lines are missing: calls without results, answers in part. */
  missing: fc.nat(6),
  thinks: fc.boolean(),
})

const anyStep = fc.record({
  what: fc.constantFrom('by-size', 'by-idle', 'by-cache-edit', 'native', 'snip', 'undo'),
  first: fc.nat(1_000),
  second: fc.nat(12),
  keep: fc.nat(4),
  recall: fc.boolean(),
  boundThinking: fc.constantFrom('delegate' as const, 'remove' as const, 'decline' as const),
  contextManagement: fc.boolean(),
  cacheEdits: fc.boolean(),
})
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

function mechanismOf(view: View, { what, first, second }: Step): PlanningMechanism {
  if (what === 'by-size') return microBySize
  if (what === 'by-idle') return microByIdle
  if (what === 'by-cache-edit') return microByCacheEdit
  if (what === 'native') return native
  const uuids = view.sources.flatMap(({ pieces }) => pieces.map(({ uuid }) => uuid ?? ''))
  const at = first % Math.max(1, uuids.length)
  return snip({ from: uuids[at] ?? '', to: uuids[Math.min(at + second, uuids.length - 1)] ?? '' })
}

/** Small numbers, so that small conversations have something to clear. */
function situationFor(view: View, step: Step, { model, thinks }: Sent) {
  const { what, keep, recall, boundThinking, contextManagement, cacheEdits } = step
  const input: SituationInput = {
    now: Date.parse('2027-01-01T00:00:00.000Z'),
    // Cache edits need a warm cache.
    ...(what === 'by-cache-edit' ? { cacheLifetime: Number.POSITIVE_INFINITY } : {}),
    client: { contextManagement, cacheEdits },
    model,
    ...(thinks && model !== 'claude-haiku-4-5' ? { thinks } : {}),
    reductions: {
      microCompact: 'always',
      recall,
      boundThinking,
      bySize: { keep, target: 500, minFreed: 300 },
      byIdle: { keep },
      byCacheEdit: { trigger: 3, keep },
      native: { trigger: 1_000, keepTokens: 500, clearAtLeast: 300 },
    },
  }
  return situationOf(view, input)
}

type Sent = { readonly model: string; readonly thinks: boolean; readonly options?: RequestOptions }

/** The request that the view makes. */
async function send(simulator: Simulator, view: View, { model, thinks, options = {} }: Sent) {
  const { contextManagement, betas = [], cacheEdits } = options
  const edits = cacheEdits ? [{ type: 'cache_edits', edits: cacheEdits }] : []
  const next = { role: 'user' as const, content: [{ type: 'text', text: 'Go on.' }, ...edits] }
  const isOver = view.messages.at(-1)?.role !== 'user' || edits.length > 0
  const { messages } = requestMessages(view, { model, next: isOver ? [next] : [] })
  const body = {
    model,
    max_tokens: 1_000,
    messages,
    // A budget would want every open tool loop to begin with thinking, which these were not made with.
    ...(thinks && model !== 'claude-haiku-4-5' ? { thinking: { type: 'adaptive' } } : {}),
    ...(contextManagement ? { context_management: contextManagement } : {}),
  }
  const headers = {
    ...(betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}),
    ...(cacheEdits ? { 'x-everlong-cache-edits': 'on' } : {}),
  }
  const told = await ask(simulator, body, { headers })
  return { status: told.status, error: objectAt(told.body, 'error')?.message }
}

const taken = { status: 200, error: undefined }
const windows = Object.fromEntries(models.map((model) => [model, 100_000_000]))

describe('any reductions, in any order, repeated and undone', () => {
  test('make requests that are taken; nothing is out of reach; undone, all is as it was', async () => {
    const seen: Record<string, number> = {}
    await fc.assert(
      fc.asyncProperty(anySession, fc.array(anyStep, { minLength: 1, maxLength: 7 }), async (options, steps) => {
        const { records } = generateWithTruth(options)
        const told = { ...options, records: records.slice(0, Math.max(3, records.length - options.missing)) }
        const simulator = simulate({ acceptForeignSignatures: true, windows })
        const transcript = createTranscript(told.records)
        const before = transcript.view()
        expect(await send(simulator, before, told)).toEqual(taken)
        const cleared: { readonly toolUseId?: string; readonly uuids: readonly string[] }[] = []
        for (const step of steps) {
          const view = transcript.view()
          let plan: Plan | undefined
          if (step.what === 'undo') {
            const uuid = transcript.edits[step.first % Math.max(1, transcript.edits.length)]
            if (uuid !== undefined) transcript.append({ type: 'undo', uuid })
          } else {
            const mechanism = mechanismOf(view, step)
            const made = mechanism.plan(view, situationFor(view, step, told))
            if (made.type === 'declined') continue
            plan = made
            cleared.push(...plan.items)
          }
          if (plan?.type === 'reduced') for (const edit of plan.edits) transcript.append(edit)
          const options = plan?.type === 'delegated' ? plan.request : undefined
          seen[step.what] = (seen[step.what] ?? 0) + 1
          const after = transcript.view()
          expect({ step, ...(await send(simulator, after, { ...told, ...(options ? { options } : {}) })) }).toEqual({
            step,
            ...taken,
          })
        }
        expect(unreachable(told.records, transcript.written, cleared)).toEqual([])
        for (const uuid of transcript.edits.filter((_, at) => isInForce(transcript.view(), `edit-${at}`)).toReversed())
          transcript.append({ type: 'undo', uuid })
        const undone = transcript.view()
        expect(JSON.stringify(undone.messages) === JSON.stringify(before.messages)).toBe(true)
        expect(await send(simulator, undone, told)).toEqual(taken)
      }),
      { numRuns: 30 },
    )
    expect(Object.keys(seen).toSorted()).toEqual(['by-cache-edit', 'by-idle', 'by-size', 'native', 'snip', 'undo'])
  })
})

function isInForce(view: View, uuid: string): boolean {
  return view.edits.some((edit) => edit.uuid === uuid)
}

let files = 0

/** What an archive of the file does not give back byte for byte. */
function unreachable(
  records: readonly JsonObject[],
  written: readonly JsonObject[],
  items: readonly { readonly toolUseId?: string; readonly uuids: readonly string[] }[],
): readonly string[] {
  const path = join(folder, `${files++}.jsonl`)
  writeFileSync(path, written.map(serialize).join(''))
  const originals = new Map<string, JsonObject>()
  for (const record of records) {
    const uuid = stringAt(record, 'uuid')
    if (uuid !== undefined && !originals.has(uuid)) originals.set(uuid, record)
  }
  const archive = openArchive(path, { folder: false })
  try {
    return items.flatMap(({ toolUseId, uuids }) => {
      const lost = uuids.filter((uuid) => {
        const original = originals.get(uuid)
        return original === undefined || `${archive.record(uuid)?.text}\n` !== serialize(original)
      })
      if (toolUseId === undefined) return lost
      const contents = uuids.map((uuid) => contentOf(originals.get(uuid), toolUseId))
      const found = JSON.stringify(archive.toolResult(toolUseId)?.content)
      return contents.includes(found) ? lost : [...lost, toolUseId]
    })
  } finally {
    archive.close()
  }
}

function contentOf(record: JsonObject | undefined, toolUseId: string): string | undefined {
  const content = objectAt(record, 'message')?.content
  const blocks: readonly JsonObject[] = Array.isArray(content) ? content : []
  return JSON.stringify(blocks.find((block) => block.tool_use_id === toolUseId)?.content)
}
