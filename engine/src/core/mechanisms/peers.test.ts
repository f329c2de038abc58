// Defects found in other agents, libraries and gateways, each with a test that ours does not have it. Defects of the fold, of the
// repair and of the ledger are tested in their folders.
import { describe, expect, test } from 'vitest'
import { type SessionBuilder, session, thinkingBlock, toolUseBlock } from '../../testing/index.ts'
import { worthOf } from '../cache/economics.ts'
import { legalCuts } from '../message/cut-points.ts'
import { blocksOf, isToolResult } from '../message/message.ts'
import { repairRequest } from '../request/repair.ts'
import { appliedEdits } from '../session/server-side.ts'
import { type Edit, editRecord } from '../transcript/format/edits.ts'
import type { View } from '../transcript/view/fold.ts'
import { reductions } from './lists.ts'
import type { Plan, PlanningMechanism } from './mechanism.ts'
import { microByCacheEdit, microByIdle, microBySize } from './micro.ts'
import { native } from './native.ts'
import { type SituationInput, situationOf } from './situation.ts'
import { text, viewOf } from './testing/examples.ts'

const model = 'claude-opus-4-8'
const now = Date.parse('2027-01-01T00:00:00.000Z')
const always: SituationInput = { now, model, estimator: 'chars/4', reductions: { microCompact: 'always' } }

const planOf = (mechanism: PlanningMechanism, view: View, input: Partial<SituationInput> = {}) =>
  mechanism.plan(view, situationOf(view, { ...always, ...input }))

function planned(mechanism: PlanningMechanism, view: View, input: Partial<SituationInput> = {}): Plan {
  const plan = planOf(mechanism, view, input)
  if (plan.type === 'declined') throw new Error(`${plan.why}: ${plan.why}`)
  return plan
}

const editsOf = (plan: Plan): readonly Edit[] => (plan.type === 'reduced' ? plan.edits : [])

function applied(built: SessionBuilder, edits: readonly Edit[]): SessionBuilder {
  for (const edit of edits) {
    const place = { uuid: `edit-${built.records.length}`, timestamp: '2026-03-03T00:00:00.000Z', sessionId: 's' }
    built.raw(editRecord(edit, { ...place, parentUuid: built.last })).from(place.uuid)
  }
  return built
}

/** Commands with results of `tokens` each, in one turn. */
function loop(rounds: number, tokens: number, built = session().user('go')): SessionBuilder {
  for (let round = 0; round < rounds; round++) {
    const id = `t${built.records.length}`
    built.toolUse(id, 'Bash', { command: 'run' }, { model }).toolResult(id, text(tokens))
  }
  return built
}

describe('clearing', () => {
  // LangChain's ClearToolUsesEdit replaces results by new messages, which lose the id and the status.
  test('leaves a result its id, its error mark and its place', () => {
    const built = session()
      .user('go')
      .assistant([toolUseBlock('t1', 'Bash'), toolUseBlock('t2', 'Bash')], { model })
      .toolResult('t1', text(30_000), { isError: true })
      .toolResult('t2', text(30_000))
    loop(3, 100, built)
    const before = viewOf(built.records).messages[2]
    const after = viewOf(applied(built, editsOf(planned(microBySize, viewOf(built.records)))).records).messages[2]
    const withoutText = (content: unknown) => blocksOf(content).map(({ content: _, ...rest }) => rest)
    expect(withoutText(after?.content)).toEqual(withoutText(before?.content))
    expect(blocksOf(after?.content).filter(isToolResult)[0]).toMatchObject({ tool_use_id: 't1', is_error: true })
  })

  // Mastra's ToolCallFilter and `keep` of LiteLLM and LangChain: the window slides, so every answer breaks the cache.
  test('comes in batches: between two of them everything that was sent stays the same bytes', () => {
    const built = session().user('go')
    let sent: readonly string[] = []
    let breaks = 0
    for (let turn = 0; turn < 60; turn++) {
      loop(1, 5_000, built)
      const plan = planOf(microBySize, viewOf(built.records))
      if (plan.type !== 'declined') {
        // Each result leaves a stub of at most about 40 tokens.
        expect(plan.freed).toBeGreaterThan(20_000 - plan.items.length * 40)
        applied(built, editsOf(plan))
      }
      const messages = viewOf(built.records).messages.map(({ content }) => JSON.stringify(content))
      if (sent.some((message, at) => messages[at] !== message)) breaks++
      sent = messages
    }
    expect(breaks).toBeLessThanOrEqual(13)
    expect(sent.join('').length / 4).toBeLessThan(70_000)
  })

  // LangChain (clearAtLeast is deprecated): one small result is cleared, and the whole prefix is written again. Cline, like us,
  // waits until enough outdated reads have accumulated.
  test('is not worth it for little: neither one old result nor one outdated read', () => {
    const little = loop(1, 5_000, loop(1, 41_000))
    expect(planOf(microBySize, viewOf(loop(3, 100, little).records))).toMatchObject({ type: 'reduced' })
    expect(planOf(microBySize, viewOf(loop(4, 10_500).records))).toMatchObject({
      type: 'declined',
      reason: 'too-little',
    })
    const read = (built: SessionBuilder, id: string) =>
      built.toolUse(id, 'Read', { file_path: '/a' }, { model }).toolResult(id, text(9_000))
    const twice = read(read(session().user('go'), 'r1'), 'r2')
    expect(planOf(microBySize, viewOf(twice.records))).toMatchObject({ type: 'declined', reason: 'too-little' })
  })

  // shogo-ai#837: an allow-list is declared but never checked. cc#57788: memory from an MCP tool is cleared.
  test.each(reductions.map((mechanism) => [mechanism.name, mechanism] as const))(
    '%s never takes what cannot be had again',
    (_, mechanism) => {
      const built = session().user('go')
      const tools = ['mcp__memory__read', 'AskUserQuestion', 'TodoWrite', 'NotebookEdit', 'Task', 'Skill', 'unheard_of']
      const ids = tools.flatMap((name) =>
        ['a', 'b'].map((letter) => {
          const id = `${name}-${letter}`
          built.toolUse(id, name, {}, { model }).toolResult(id, text(20_000))
          return id
        }),
      )
      const view = viewOf(loop(20, 3_000, built).records)
      const plan = planned(mechanism, view, {
        client: { contextManagement: true, cacheEdits: mechanism === microByCacheEdit },
        ...(mechanism === microByCacheEdit ? { cacheLifetime: Number.POSITIVE_INFINITY } : {}),
        reductions: {
          microCompact: 'always',
          bySize: { target: 1_000 },
          native: { trigger: 1_000, keepTokens: 1_000 },
        },
      })
      expect(plan.items.length).toBeGreaterThan(0)
      expect(plan.items.filter(({ toolUseId }) => ids.includes(toolUseId ?? ''))).toEqual([])
      if (mechanism !== native)
        expect(
          ids.filter((id) => JSON.stringify(plan.type === 'reduced' ? plan.edits : plan.request).includes(id)),
        ).toEqual([])
      else {
        const request = plan.type === 'delegated' ? plan.request.contextManagement?.edits[0] : undefined
        expect(request?.exclude_tools).toEqual(tools.toSorted())
      }
    },
  )

  // The AI SDK's pruneMessages removes calls together with their results, and its example removes the reasoning of an open tool
  // loop. Headroom's SDK loses signatures when it converts through another format.
  test('leaves calls, and on models that do not bind it all thinking, byte for byte', () => {
    const built = session().user('go')
    for (const id of ['t1', 't2', 't3', 't4', 't5', 't6']) {
      built.assistant([thinkingBlock(`about ${id}`, `sig-${id}`), toolUseBlock(id, 'Bash', { command: id })], { model })
      built.toolResult(id, text(20_000))
    }
    const answers = ({ messages }: View) => JSON.stringify(messages.filter(({ role }) => role === 'assistant'))
    const before = viewOf(built.records)
    const after = viewOf(applied(built, editsOf(planned(microBySize, before))).records)
    expect(answers(after)).toBe(answers(before))
  })

  // LiteLLM's compress ranks by the newest question, so another question gives another prefix.
  test('does not depend on what is asked now', () => {
    const asked = (words: string) => planned(microBySize, viewOf(loop(6, 20_000).user(words).records))
    expect(editsOf(asked('What was in the first file?'))).toEqual(editsOf(asked('Never mind.')))
  })

  // Roo-Code's truncation counts messages that were already condensed: it "removes" 12 messages, and nothing becomes smaller.
  test('counts what is in view, and frees what it promises', () => {
    const built = loop(10, 20_000).boundary({}).summary('so far')
    expect(planOf(microByIdle, viewOf(built.user('go on').records))).toMatchObject({ reason: 'clock-unreliable' })
    const view = viewOf(loop(7, 9_000, built).records)
    const plan = planned(microBySize, view)
    const size = ({ messages }: View) => JSON.stringify(messages.map(({ content }) => content)).length / 4
    const freed = size(view) - size(viewOf(applied(built, editsOf(plan)).records))
    expect(plan.why).toBe('tool results weigh 63,000 tokens')
    expect(Math.abs(freed - plan.freed)).toBeLessThan(plan.freed * 0.05)
  })

  // opencode#27924, codex: no check that anything was gained, so the same step repeats forever.
  test('is declined where the text in its place is as long as what goes', () => {
    const view = viewOf(loop(40, 2).records)
    expect(planOf(microByIdle, view)).toMatchObject({ type: 'declined', reason: 'nothing-to-do' })
  })

  // Cline: a picture of one megabyte counts as 333,374 tokens. pi: none at all.
  test('weighs a picture as a picture', () => {
    const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(1 << 20) } }
    const built = session()
      .user('go')
      .toolUse('t1', 'Read', { file_path: '/a.png' }, { model })
      .toolResult('t1', [picture])
    const plan = planned(microByIdle, viewOf(loop(5, 100, built).records))
    expect(plan.items.map(({ tokens }) => tokens)).toEqual([2_000])
    expect(plan.freed).toBeGreaterThan(500)
    expect(plan.freed).toBeLessThan(5_000)
  })
})

describe('one long tool loop', () => {
  // gemini-cli cuts only at human messages: of 603 items it summarizes 2.
  test('can be cut after each of its rounds, when a summary comes before the rest', () => {
    const { messages } = viewOf(loop(300, 10).records)
    const cuts = legalCuts(messages, { before: 'user-message' })
    const found = messages.filter((_, at) => cuts(at)).length
    expect(found).toBeGreaterThanOrEqual(299)
  })

  // pi compacts between turns, never within one.
  test('is cleared while it runs', () => {
    expect(planned(microBySize, viewOf(loop(10, 20_000).records)).items).toHaveLength(7)
  })
})

describe('a repaired request', () => {
  // codex gives its synthetic results fixed ids, because changing ids would break the prompt cache.
  test('stays the same bytes while the conversation continues', () => {
    const built = session().user('go').toolUse('t1', 'Bash', {}, { model }).user('stop')
    const repaired = () =>
      repairRequest(viewOf(built.records).messages).messages.map((message) => JSON.stringify(message))
    const before = repaired()
    built.assistant('Stopped.', { model }).user('and now')
    expect(repaired().slice(0, before.length)).toEqual(before)
    expect(before.join()).toContain('No result: the call was interrupted')
  })
})

describe('the sum', () => {
  // Headroom's own figures: removing 2k before 50k pays after 287.5 more reads, removing 50k before 10k after 2.3.
  test.each([
    [2_000, 50_000, 287.5],
    [50_000, 10_000, 2.3],
  ])('%i tokens removed ahead of %i pay after %f turns', (freed, suffix, turns) => {
    expect(worthOf({ freed, suffix, turns: 1, cache: { type: 'warm', lifetime: 300_000 } }).breakEven).toBe(turns)
  })
})

describe('what a server says it left out', () => {
  // The AI SDK accepts a closed list of edits, so a new kind makes the whole answer fail. LangChain looks in another place.
  test('is read whatever kinds there are', () => {
    const applied_edits = [
      { type: 'clear_tool_uses_20250919', cleared_tool_uses: 3, cleared_input_tokens: 9_000 },
      { type: 'something_of_2027', cleared_input_tokens: 1_000, note: null },
      null,
    ]
    expect(appliedEdits({ context_management: { applied_edits } })).toEqual([
      { type: 'server-cleared', toolUses: 3, thinkingTurns: 0, tokens: 10_000, mechanism: 'native' },
    ])
  })
})
