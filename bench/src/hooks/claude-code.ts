// The hooks of the Claude Code plug-in.
import { appendFileSync, mkdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { serialize, session } from 'everlong/internal/testing'
import { root } from '../root.ts'
import { writeSession } from '../write-session.ts'
import { cpuOf, type Hook } from './measure.ts'

const program = join(root, 'plugins/claude-code/dist/everlong.js')
const human = ['Never touch schema.sql from now on.', 'Fix the report.', 'Go on.']
const summary = '<summary>1. The reports were read.</summary>'

/** In the order in which Claude Code runs them. */
export function claudeCodeHooks(folder: string, megabytes: number): readonly Hook[] {
  return [...sessionOf(folder, megabytes), ...sessionOf(folder, smallMegabytes, ', small session')]
}

const smallMegabytes = 0.2

function sessionOf(folder: string, megabytes: number, note = ''): readonly Hook[] {
  const transcript = join(folder, `session-${megabytes}.jsonl`)
  const data = join(folder, `data-${megabytes}`)
  mkdirSync(data)
  writeSession(transcript, { seed: 5, targetBytes: megabytes * 1_000_000, human })
  const { size } = statSync(transcript)
  const cost = (mode: 'hook' | 'background', hook_event_name: string) => {
    const event = { session_id: 's1', transcript_path: transcript, hook_event_name }
    return cpuOf([program, mode, data], JSON.stringify(event), { CLAUDE_PLUGIN_DATA: data })
  }
  /** As Claude Code writes it after the hook. */
  const start = () => {
    truncateSync(transcript, size)
    const used = cost('hook', 'SessionStart')
    const { records } = session().boundary({ uuid: 'b1' }).summary(summary)
    appendFileSync(transcript, records.map(serialize).join(''))
    return used
  }
  const rows: readonly Omit<Hook, 'agent'>[] = [
    {
      name: 'SessionStart, first',
      note: 'the rules of the user, from all of the transcript',
      cost: () => {
        rmSync(join(data, 'marks'), { recursive: true, force: true })
        return start()
      },
    },
    { name: 'SessionStart', note: 'the rules of the user, from what is new', cost: start },
    {
      name: 'SessionStart, async',
      note: 'reads the conversation; the agent does not wait',
      cost: () => cost('background', 'SessionStart'),
    },
    { name: 'UserPromptSubmit', note: 'compares and says what was lost', cost: () => cost('hook', 'UserPromptSubmit') },
  ]
  return rows.map((row) => ({ agent: 'Claude Code', ...row, note: `${row.note}${note}` }))
}
