// The session in which the agent works: opening it, replacing it, changing its model.
import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename } from 'node:path'
import type { Environment } from 'everlong'
import { numberAt, stringAt } from 'everlong/internal'
import { createEngine, type EngineOptions, type Session, type SessionOptions } from 'everlong/node'
import { memoryFiles } from './context/memory-files.ts'
import { systemPrompt } from './context/system-prompt.ts'
import type { ChosenModel } from './models/chosen.ts'
import { type RetryEvent, reportingRetries } from './models/patient.ts'
import { reasonOf } from './reason-of.ts'
import { dateTime } from './render/numbers.ts'
import { forkSession, newSessionPath, rememberModel } from './sessions/sessions.ts'
import { spendingOf } from './sessions/spending.ts'
import type { Settings } from './settings/settings.ts'

/** The session to work in. */
export type SessionChoice =
  | { readonly type: 'new'; readonly startedBy?: 'clear' }
  | { readonly type: 'open'; readonly path: string }
  | { readonly type: 'fork'; readonly path: string }

export type SessionSetup = {
  readonly folder: string
  /** The person's own folder, for instruction files. */
  readonly home: string
  /** The folder of this project's sessions. */
  readonly sessions: string
  readonly settings: Settings
  readonly env: Environment
  readonly isHeadless: boolean
  /** The agent has the recall tool. */
  readonly hasRecall: boolean
  readonly state?: SessionOptions['state']
  /** The redaction that the tools apply to every text that they return. */
  readonly redact?: EngineOptions['redact']
  /** Whether a compaction may run now, if the settings require asking. */
  readonly mayCompact: () => Promise<boolean>
  readonly onOpened: (session: Session) => void
  readonly onRetry: (event: RetryEvent) => void
  readonly notify: (text: string) => void
}

export type SessionHost = ReturnType<typeof createSessionHost>

export function createSessionHost(setup: SessionSetup, first: ChosenModel) {
  const reporting = (chosen: ChosenModel): ChosenModel => ({
    ...chosen,
    client: reportingRetries(chosen.client, setup.onRetry),
  })
  let model = reporting(first)
  let current: Session | undefined
  /** The size of the transcript when the session was opened. */
  let openedBytes = 0
  const session = (): Session => {
    if (!current) throw new Error('The session is not open yet.')
    return current
  }
  const closeModel = async (other: ChosenModel) => {
    if (other !== model) await other.close?.()
  }
  /** So that the session later continues with the same model. */
  const remember = (): void => {
    const { path } = session()
    if (path === undefined) return
    try {
      rememberModel(path, model.words)
    } catch (error) {
      setup.notify(`The model of this session was not recorded: ${reasonOf(error)}`)
    }
  }
  return {
    session,
    model: () => model,
    spending: () => spendingOf(session(), openedBytes),
    rememberModel: remember,
    /** Closes the previous session after the new one is open. `other` replaces the model; it is closed if that fails. */
    open: async (choice: SessionChoice, other?: ChosenModel): Promise<void> => {
      const [before, modelBefore] = [current, model]
      const next = other ? reporting(other) : model
      try {
        const opened = await openSession(setup, next, choice)
        current = opened.session
        openedBytes = opened.bytes
        model = next
      } catch (error) {
        await closeModel(next)
        throw error
      }
      setup.onOpened(current)
      await before?.close()
      await closeModel(modelBefore)
    },
    changeModel: async (next: ChosenModel, signal: AbortSignal) => {
      const before = model
      const chosen = reporting(next)
      const switched = await session().useModel({ client: chosen.client, name: chosen.name }, { signal })
      model = chosen
      // Nobody continues an empty session.
      if (session().messages().length > 0) remember()
      await closeModel(before)
      return switched
    },
    close: async (): Promise<void> => {
      await current?.close()
      await model.close?.()
    },
  }
}

type Opened = { readonly session: Session; readonly bytes: number }

async function openSession(setup: SessionSetup, model: ChosenModel, choice: SessionChoice): Promise<Opened> {
  const { settings, env, isHeadless, hasRecall, mayCompact, redact } = setup
  const engine = createEngine({
    model: model.client,
    environment: env,
    settings: { recall: hasRecall, isAutonomous: isHeadless, ...settings.engine },
    hookSettings: { settings: settings.hooks, env: { ...env } },
    ask: mayCompact,
    ...(redact ? { redact } : {}),
  })
  const options = sessionOptions(setup)
  if (choice.type === 'new') {
    const { startedBy = 'startup' } = choice
    const session = await engine.start({ ...options, startedBy, path: newSessionPath(setup.sessions) })
    return { session, bytes: 0 }
  }
  const path = choice.type === 'fork' ? forkSession(choice.path, setup.sessions) : choice.path
  const { size: bytes } = statSync(path)
  const session = await engine.open(path, options).catch((error: Error) => {
    throw stringAt(error.cause, 'owner') === undefined ? error : new Error(heldText(path, error.cause))
  })
  return { session, bytes }
}

/** Another process writes the session. */
function heldText(path: string, holder: unknown): string {
  const [owner, host] = [stringAt(holder, 'owner'), stringAt(holder, 'host')]
  const where = host === hostname() ? '' : ` on ${host}`
  const since = dateTime(stringAt(holder, 'since'), undefined)
  const who = `${owner} (process ${numberAt(holder, 'pid')}${where}, since ${since})`
  const inUse = `The session ${basename(path, '.jsonl')} is in use by ${who}.`
  const freeInMs = numberAt(holder, 'freeInMs')
  if (freeInMs === undefined) return `${inUse} Quit that one, or add --fork to work in a copy.`
  const seconds = Math.ceil(freeInMs / 1_000)
  return `${inUse} If that process has ended, the session is free in ${seconds} s: try again then. Otherwise quit it, or add --fork to work in a copy.`
}

function sessionOptions({ folder, home, settings, isHeadless, state }: SessionSetup): SessionOptions {
  const { thinking = 'off', engine } = settings
  const { maxOutputTokens } = engine
  const system = systemPrompt({
    folder,
    platform: process.platform,
    memoryFiles: memoryFiles({ home, folder, ...settings.permissions }),
    isHeadless,
  })
  return {
    owner: 'everlong agent',
    system,
    envelope: { cwd: folder },
    ...(state ? { state } : {}),
    ...(maxOutputTokens === undefined ? {} : { maxTokens: maxOutputTokens }),
    ...(thinking === 'off' ? {} : { thinking: thinkingOf(thinking) }),
  }
}

function thinkingOf(thinking: 'adaptive' | number): object {
  return thinking === 'adaptive' ? { type: 'adaptive' } : { type: 'enabled', budget_tokens: thinking }
}
