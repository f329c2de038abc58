// Restores plan and rule files from disk, always whole, because half a plan or half a rule misleads. Rule files are instructions
// for agents (AGENTS.md, CLAUDE.md …) that apply to the files below them. Those of the root come with the system prompt, the
// others only with the files.

import { groupBy } from '../message/maps.ts'
import {
  type FileRead,
  type FileStore,
  type NotRestored,
  nothingRestored,
  type RestoredPiece,
} from '../ports/restore.ts'
import { hashText } from '../text/hash.ts'
import { pathKey } from '../tools/call.ts'
import { fitted, type RestoreInput, type Restorer, type TitledText, whyUnread } from './restorer.ts'
import type { SessionState } from './state-book.ts'
import type { TouchedFile } from './touched.ts'

type Plan = NonNullable<SessionState['plan']>

/** Always says that plan mode is on. Otherwise the agent would start making changes. */
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
    const no = (what: string, because: string): NotRestored => ({ kind: 'plan', what, why: because })
    const notRestored = missing === undefined ? [] : [no(nameOf(plan), missing)]
    if (!plan.isOn) return { pieces: [], notRestored }
    const note = missing === undefined ? 'There is no plan yet.' : `The plan is not here: ${missing}.`
    const mode = planPiece(plan, { text: note, hasText: false }, input)
    if (mode.tokens <= room) return { pieces: [mode], notRestored }
    return { pieces: [], notRestored: [...notRestored, no('Plan mode', 'it is on, and there is no room to say so')] }
  },
}

/** Half a plan or half a rule misleads. */
async function wholeFile(files: FileStore, path: string): Promise<FileRead> {
  const read = await files.read(path)
  if (read.type !== 'text' || !read.part) return read
  return { type: 'refused', why: 'this session was shown only a part of it: read it again' }
}

function nameOf({ path }: Plan): string {
  return path === undefined ? 'Plan' : `Plan ${path}`
}

type PlanText = { readonly text: string; readonly hasText: boolean }

function planPiece(plan: Plan, { text, hasText }: PlanText, { countTokens }: RestoreInput): RestoredPiece {
  const { path, isOn, requestsSince = 0 } = plan
  const title = `${nameOf(plan)}${isOn ? ' (plan mode is on: plan, change nothing)' : ageOf(requestsSince)}`
  const state = { plan: { ...(path === undefined ? {} : { path }), isOn, hasText, requestsSince } }
  return { kind: 'plan', title, text, tokens: countTokens(`${title}\n${text}`), state }
}

/** Nobody deletes a plan when it is done. The next agent must not follow an old one instead of newer requests. */
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
  const read = await wholeFile(files, path)
  if (read.type === 'text') return { text: read.text }
  const known = text ?? (read.type === 'refused' ? read.lastShown : undefined)
  if (known !== undefined) return { text: `${known}\n[as last shown: the file cannot be read now]` }
  // The path is known from the start, but the file may not exist yet.
  return read.type === 'missing' ? {} : { why: whyUnread(read) }
}

export const restoreMemoryFiles: Restorer = {
  kind: 'memory-files',
  budget: 40_000,
  restore: async (input, room) => {
    const items: TitledText[] = []
    const missing: NotRestored[] = []
    for (const { path, isSure } of rulePaths(input)) {
      const read = await wholeFile(input.files, path)
      if (read.type === 'text') {
        items.push({ title: `Instructions ${path} (${nameOfContent(read.text)})`, text: read.text, path })
      } else if (isSure) {
        missing.push({ kind: 'memory-files', what: path, why: whyUnread(read) })
      }
    }
    const { pieces, notRestored } = fitted('memory-files', items, { room, countTokens: input.countTokens })
    return { pieces, notRestored: [...missing, ...notRestored] }
  },
}

/** Known rule files, then places where one may exist, without duplicates. */
function rulePaths({ state, touched, root }: RestoreInput) {
  const sure = [...state.memoryFiles, ...rulesRead(touched, root)].map((path) => ({ path, isSure: true }))
  const maybe = rulePlaces(touched, root).map((path) => ({ path, isSure: false }))
  const byKey = groupBy([...sure, ...maybe], ({ path }) => pathKey(path, root))
  return [...byKey.values()].flatMap(([first]) => first ?? [])
}

/** A short fingerprint of the content that tells two versions apart. */
function nameOfContent(text: string): string {
  return `#${(hashText(text) >>> 0).toString(16).padStart(8, '0')}`
}

const names = ['AGENTS.md', 'CLAUDE.md', 'CLAUDE.local.md', 'GEMINI.md'] as const
const ruleName =
  /(^|[/\\])(AGENTS|CLAUDE|CLAUDE\.local|GEMINI)\.md$|(^|[/\\])\.(claude|cursor)[/\\]rules[/\\]|(^|[/\\])\.cursorrules$/i

export function isRuleFile(path: string): boolean {
  return ruleName.test(path)
}

/** Rule files that the session read. Those of the root come with the system prompt. */
function rulesRead(touched: readonly TouchedFile[], root: string | undefined): readonly string[] {
  const isOfRoot = (path: string) => !/[/\\]/.test(pathKey(path, root))
  return touched.map(({ path }) => path).filter((path) => isRuleFile(path) && !isOfRoot(path))
}

const maxFiles = 8
const maxFolders = 12

/** Possible places of rules for these files: their folders and the parent folders up to the root, nearest first. */
export function rulePlaces(touched: readonly TouchedFile[], root: string | undefined): readonly string[] {
  if (root === undefined) return []
  const folders = new Set<string>()
  for (const { path } of touched.slice(0, maxFiles)) {
    const parts = pathKey(path, root).split('/').slice(0, -1)
    // Skips places outside the root.
    if (parts[0] === '' || parts.includes('..')) continue
    for (let depth = parts.length; depth > 0; depth--) folders.add(parts.slice(0, depth).join('/'))
  }
  return [...folders].slice(0, maxFolders).flatMap((folder) => names.map((name) => `${folder}/${name}`))
}
