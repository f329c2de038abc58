// The hooks of the Codex plug-in, from a folder as it is installed, with a rollout of many compactions.
import { appendFileSync, copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateCodexRollout, serialize } from 'everlong/internal/testing'
import { root } from '../root.ts'
import { cpuOf, type Hook } from './measure.ts'

/** 50 MB, and as much between two compactions as fits into a window. */
const rollout = { seed: 5, turns: 4_780, compactions: 50 }

export function codexHooks(folder: string): readonly Hook[] {
  const place = join(folder, 'codex')
  mkdirSync(place)
  for (const name of ['everlong.js', 'hook.js', 'engine.js'])
    copyFileSync(join(root, 'plugins/codex/dist', name), join(place, name))
  const { path, compact } = writeRollout(folder)
  const run = (mode: string, event: object) =>
    cpuOf([join(place, 'everlong.js'), mode], JSON.stringify({ transcript_path: path, ...event }))
  const background = () => run('background', { hook_event_name: 'PreCompact' })
  const answer = () => run('hook', { hook_event_name: 'SessionStart', source: 'compact' })
  const [prepared, kept] = [join(place, 'prepared'), join(folder, 'kept')]
  background()
  cpSync(prepared, kept, { recursive: true })
  compact()
  return [
    { agent: 'Codex', name: 'PreCompact, async', note: 'reads the rollout; the agent does not wait', cost: background },
    {
      agent: 'Codex',
      name: 'SessionStart',
      note: 'says what was lost',
      cost: () => {
        cpSync(kept, prepared, { recursive: true })
        return answer()
      },
    },
    {
      agent: 'Codex',
      name: 'SessionStart, alone',
      note: 'the same where PreCompact did not run or came too late',
      cost: () => {
        rmSync(prepared, { recursive: true, force: true })
        return answer()
      },
    },
  ]
}

/** A rollout up to its last compaction, which `compact` adds. */
function writeRollout(folder: string) {
  const path = join(folder, 'rollout.jsonl')
  const { records } = generateCodexRollout(rollout)
  const last = records.findLastIndex(({ type }) => type === 'compacted')
  writeFileSync(path, '')
  for (let at = 0; at < last; at += 1_000)
    appendFileSync(
      path,
      records
        .slice(at, Math.min(last, at + 1_000))
        .map(serialize)
        .join(''),
    )
  return {
    path,
    compact: () =>
      appendFileSync(
        path,
        records
          .slice(last, last + 1)
          .map(serialize)
          .join(''),
      ),
  }
}
