// The hooks of the Claude Code plug-in.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root.ts'
import { writeSession } from '../write-session.ts'
import { cpuOf, type Hook } from './measure.ts'

const program = join(root, 'plugins/claude-code/dist/everlong.js')
const human = ['Never touch schema.sql from now on.', 'Fix the report.', 'Go on.']
const summary = '<summary>1. The reports were read.</summary>'

/** In the order in which Claude Code runs them. */
export function claudeCodeHooks(folder: string, megabytes: number): readonly Hook[] {
  const transcript = join(folder, 'session.jsonl')
  const data = join(folder, 'data')
  mkdirSync(data)
  writeSession(transcript, { seed: 5, targetBytes: megabytes * 1_000_000, human })
  const cost = (mode: 'hook' | 'background', hook_event_name: string) => () => {
    const event = { session_id: 's1', transcript_path: transcript, hook_event_name, compact_summary: summary }
    return cpuOf([program, mode, data], JSON.stringify(event), { CLAUDE_PLUGIN_DATA: data })
  }
  const readAll = () => {
    // What it knows of the transcript already, it does not read again.
    rmSync(join(data, 'marks'), { recursive: true, force: true })
    return cost('background', 'PreCompact')()
  }
  const rows: readonly Omit<Hook, 'agent'>[] = [
    { name: 'PreCompact, async', note: 'reads the transcript; the agent does not wait', cost: readAll },
    { name: 'PreCompact', note: 'instructions for the summary', cost: cost('hook', 'PreCompact') },
    { name: 'SessionStart', note: 'the rules of the user', cost: cost('hook', 'SessionStart') },
    { name: 'PostCompact', note: 'keeps the summary', cost: cost('hook', 'PostCompact') },
    {
      name: 'PostCompact, async',
      note: 'compares it; the agent does not wait',
      cost: cost('background', 'PostCompact'),
    },
    { name: 'UserPromptSubmit', note: 'hands over what was lost', cost: cost('hook', 'UserPromptSubmit') },
  ]
  return rows.map((row) => ({ agent: 'Claude Code', ...row }))
}
