// New sessions in the formats of other agents: one user message with the handover.
import { join } from 'node:path'
import type { Environment } from 'everlong'
import type { JsonObject } from 'everlong/internal'
import { homeOf } from '../install/place.ts'

export type NewSession = {
  readonly text: string
  /** A UUID. */
  readonly id: string
  /** The folder in which the work continues. */
  readonly folder: string
  /** Milliseconds. */
  readonly now: number
}

export type SessionFormat = {
  readonly agent: string
  /** The path where the agent looks for it. Undefined if it must be imported from a file. */
  readonly place: (session: NewSession, env: Environment) => string | undefined
  readonly content: (session: NewSession) => string
  /** The words of the command that continues it. */
  readonly command: (session: NewSession, path: string) => readonly string[]
}

const lines = (...records: readonly JsonObject[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')
const timeOf = ({ now }: NewSession) => new Date(now).toISOString()

const claudeCode: SessionFormat = {
  agent: 'Claude Code',
  place: ({ id, folder }, env) => {
    const home = env.CLAUDE_CONFIG_DIR || join(homeOf(env), '.claude')
    return join(home, 'projects', folder.replace(/[^A-Za-z0-9]/g, '-'), `${id}.jsonl`)
  },
  content: (session) =>
    lines({
      parentUuid: null,
      isSidechain: false,
      userType: 'external',
      cwd: session.folder,
      sessionId: session.id,
      version: '2.1.0',
      type: 'user',
      message: { role: 'user', content: session.text },
      uuid: session.id,
      timestamp: timeOf(session),
    }),
  command: ({ id }) => ['claude', '--resume', id],
}

const pi: SessionFormat = {
  agent: 'pi',
  place: (session, env) => {
    const home = env.PI_CODING_AGENT_DIR || join(homeOf(env), '.pi', 'agent')
    const folder = `--${session.folder.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-')}--`
    return join(home, 'sessions', folder, `${timeOf(session).replace(/[:.]/g, '-')}_${session.id}.jsonl`)
  },
  content: (session) =>
    lines(
      { type: 'session', version: 3, id: session.id, timestamp: timeOf(session), cwd: session.folder },
      {
        type: 'message',
        id: session.id.slice(0, 8),
        parentId: null,
        timestamp: timeOf(session),
        message: { role: 'user', content: [{ type: 'text', text: session.text }], timestamp: session.now },
      },
    ),
  command: (_, path) => ['pi', '--session', path],
}

const codex: SessionFormat = {
  agent: 'Codex',
  place: (session, env) => {
    const home = env.CODEX_HOME || join(homeOf(env), '.codex')
    const time = timeOf(session)
    const [year = '', month = '', day = ''] = time.slice(0, 10).split('-')
    return join(
      home,
      'sessions',
      year,
      month,
      day,
      `rollout-${time.slice(0, 19).replaceAll(':', '-')}-${session.id}.jsonl`,
    )
  },
  content: (session) => {
    const timestamp = timeOf(session)
    const { id, folder: cwd, text } = session
    return lines(
      {
        timestamp,
        type: 'session_meta',
        payload: { id, timestamp, cwd, originator: 'everlong', cli_version: '0.0.0', source: 'cli' },
      },
      {
        timestamp,
        type: 'response_item',
        payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
      },
      { timestamp, type: 'event_msg', payload: { type: 'user_message', message: text } },
    )
  },
  command: ({ id }) => ['codex', 'resume', id],
}

const opencode: SessionFormat = {
  agent: 'opencode',
  place: () => undefined,
  content: (session) => {
    const { id, now, folder, text } = session
    const short = id.replaceAll('-', '').slice(0, 26)
    const [sessionID, messageID] = [`ses_${short}`, `msg_${short}`]
    const info = {
      id: sessionID,
      slug: 'handover',
      projectID: 'global',
      directory: folder,
      title: 'Handover',
      version: '1.0.0',
      time: { created: now, updated: now },
    }
    const message = {
      info: {
        id: messageID,
        sessionID,
        role: 'user',
        time: { created: now },
        agent: 'build',
        model: { providerID: 'anthropic', modelID: 'claude-sonnet-4-6' },
      },
      parts: [{ id: `prt_${short}`, sessionID, messageID, type: 'text', text }],
    }
    return `${JSON.stringify({ info, messages: [message] }, undefined, 2)}\n`
  },
  command: (_, path) => ['opencode', 'import', path],
}

export const formats = { 'claude-code': claudeCode, codex, opencode, pi } as const
