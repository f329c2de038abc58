// Restorers that read the plan and the rule files: whole, since half a plan or half a rule misleads.

import { type NotRestored, nothingRestored, type Piece } from '../ports/restore.ts'
import { hashText } from '../text/hash.ts'
import { pathKey } from './paths.ts'
import type { RestoreInput, Restorer } from './restorer.ts'
import { rulePlaces, rulesRead } from './rules.ts'
import type { SessionState } from './state.ts'

type Plan = NonNullable<SessionState['plan']>

/** That plan mode is on is said in any case: an agent that does not know it starts to change things. */
export const restorePlan: Restorer = {
  kind: 'plan',
  budget: 25_000,
  restore: async (input, room) => {
    const { plan } = input.state
    if (!plan) return nothingRestored
    const { text, why } = await textOfPlan(plan, input)
    const whole = text === undefined ? undefined : planPiece(plan, { text, hasText: true }, input)
    if (whole && whole.tokens <= room) return { pieces: [whole], notRestored: [] }
    const missing = whole ? `it has ${whole.tokens} tokens` : why
    const what = `Plan${plan.path === undefined ? '' : ` ${plan.path}`}`
    const notRestored = missing === undefined ? [] : [{ kind: 'plan', what, why: missing }]
    if (!plan.isOn) return { pieces: [], notRestored }
    const note = missing === undefined ? 'There is no plan yet.' : `The plan is not here: ${missing}.`
    const mode = planPiece(plan, { text: note, hasText: false }, input)
    if (mode.tokens <= room) return { pieces: [mode], notRestored }
    return {
      pieces: [],
      notRestored: [
        ...notRestored,
        { kind: 'plan', what: 'Plan mode', why: 'it is on, and there is no room to say so' },
      ],
    }
  },
}

type PlanText = { readonly text: string; readonly hasText: boolean }

function planPiece(plan: Plan, { text, hasText }: PlanText, { countTokens }: RestoreInput): Piece {
  const { path, isOn, requestsSince = 0 } = plan
  const mode = isOn ? ' (plan mode is on: plan, change nothing)' : ageOf(requestsSince)
  const title = `Plan${path === undefined ? '' : ` ${path}`}${mode}`
  const state = { plan: { ...(path === undefined ? {} : { path }), isOn, hasText, requestsSince } }
  return { kind: 'plan', title, text, tokens: countTokens(`${title}\n${text}`), state }
}

/** Nobody takes a plan back when it is done: the next agent must not follow an old one against what was asked since. */
function ageOf(requestsSince: number): string {
  if (requestsSince === 0) return ''
  const messages = requestsSince === 1 ? 'message' : `${requestsSince} messages`
  return ` (from before the user’s last ${messages}: it may be done or superseded)`
}

async function textOfPlan(
  { path, text }: Plan,
  { files }: RestoreInput,
): Promise<{ text?: string | undefined; why?: string }> {
  if (path === undefined) return { text }
  const read = await files.read(path)
  if (read.type === 'text') return { text: read.text }
  const known = text ?? (read.type === 'refused' ? read.lastShown : undefined)
  if (known !== undefined) return { text: `${known}\n[as last shown: the file cannot be read now]` }
  // The path is there from the start; the file only once somebody has written it.
  return read.type === 'missing' ? {} : { why: read.type === 'refused' ? read.why : 'it is binary' }
}

export const restoreMemoryFiles: Restorer = {
  kind: 'memory-files',
  budget: 40_000,
  restore: async (input, room) => {
    const pieces: Piece[] = []
    const notRestored: NotRestored[] = []
    let left = room
    for (const { path, isSure } of rulePaths(input)) {
      const read = await input.files.read(path)
      if (read.type !== 'text') {
        const why = read.type === 'refused' ? read.why : 'it is not there any more'
        if (isSure) notRestored.push({ kind: 'memory-files', what: path, why })
        continue
      }
      const title = `Instructions ${path} (${nameOfContent(read.text)})`
      const tokens = input.countTokens(`${title}\n${read.text}`)
      if (tokens > left)
        notRestored.push({ kind: 'memory-files', what: path, why: `it has ${tokens} tokens, and ${left} are left` })
      else {
        pieces.push({ kind: 'memory-files', title, text: read.text, tokens, path })
        left -= tokens
      }
    }
    return { pieces, notRestored }
  },
}

/** Those that are known, and places where there may be one. */
function rulePaths({
  state,
  touched,
  root,
}: RestoreInput): readonly { readonly path: string; readonly isSure: boolean }[] {
  const sure = [...state.memoryFiles, ...rulesRead(touched, root)].map((path) => ({ path, isSure: true }))
  const maybe = rulePlaces(touched, root).map((path) => ({ path, isSure: false }))
  const known = new Set<string>()
  return [...sure, ...maybe].filter(({ path }) => {
    const key = pathKey(path, root)
    if (known.has(key)) return false
    known.add(key)
    return true
  })
}

/** A short name for a text's exact content, so that two versions can be told apart: 32 bits are enough to read. */
function nameOfContent(text: string): string {
  return `#${(hashText(text) >>> 0).toString(16).padStart(8, '0')}`
}
