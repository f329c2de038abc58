// `everlong install` without an agent: the agents in which Everlong is installed, and whether the files are unchanged.
import { counted, visible } from '@everlong/agent/render'
import packageFacts from '../../../package.json' with { type: 'json' }
import { readFileAt } from '../../disk.ts'
import type { Io } from '../../io.ts'
import { expecting, gathered, type Outcome } from '../../outcome.ts'
import { facts, type Screen } from '../../render/screen.ts'
import { homeOf } from './place.ts'
import { hashOf, planUninstall } from './plan.ts'
import { DamagedRecord, type FileRecord, type InstallRecord, readRecord } from './record.ts'
import { targets } from './targets.ts'

export type StatusReport = { readonly version: string; readonly targets: readonly TargetStatus[] }

export type TargetStatus = {
  readonly name: string
  readonly title: string
  /** Undefined if it is not installed. */
  readonly version: string | undefined
  /** `changed`: somebody edited a file since; `missing`: somebody removed one. */
  readonly files: readonly { readonly path: string; readonly state: 'as-written' | 'changed' | 'missing' }[]
  /** Files that `uninstall` would ask the user to change by hand. */
  readonly byHand: readonly string[]
  /** The reason why its state is unknown. */
  readonly trouble: string | undefined
}

export function gather({ env }: Io): Outcome<StatusReport> {
  const home = homeOf(env)
  return expecting(home, () => {
    const all = targets.map(({ name, title }) => ({ name, title, ...statusAt(home, name) }))
    const report: StatusReport = { version: packageFacts.version, targets: all }
    const complaint = all.flatMap(({ trouble }) => trouble ?? [])[0]
    return complaint === undefined ? gathered(report) : { type: 'gathered', report, exitCode: 1, complaint }
  })
}

type State = Omit<TargetStatus, 'name' | 'title'>

/** An unreadable record affects only one agent. */
function statusAt(home: string, name: string): State {
  try {
    return statusOf(readRecord(home, name), home)
  } catch (error) {
    if (error instanceof DamagedRecord) return { ...notInstalled, trouble: error.message }
    throw error
  }
}

const notInstalled: State = { version: undefined, files: [], byHand: [], trouble: undefined }

function statusOf(record: InstallRecord | undefined, home: string): State {
  if (!record) return notInstalled
  const { refusals } = planUninstall(record, home)
  const files = record.files.map((file) => ({ path: file.path, state: stateOf(file) }))
  return { version: record.version, files, byHand: refusals.map(({ path }) => path), trouble: undefined }
}

function stateOf({ path, after }: FileRecord): 'as-written' | 'changed' | 'missing' {
  const { bytes } = readFileAt(path)
  if (bytes === undefined) return 'missing'
  return after.includes(hashOf(bytes)) ? 'as-written' : 'changed'
}

export function render({ version, targets: all }: StatusReport, screen: Screen): readonly string[] {
  return facts(
    all.map((target) => [target.name, sentence(target, version)]),
    screen,
  )
}

function sentence(target: TargetStatus, version: string): string {
  if (target.trouble !== undefined) return 'unknown: its record is damaged'
  if (target.version === undefined) return 'not installed'
  const named = (state: string) => target.files.filter((file) => file.state === state).map(({ path }) => visible(path))
  const parts = [
    `installed, version ${visible(target.version)}, ${counted(target.files.length, 'file')}`,
    ...(target.version === version ? [] : [`this is ${version}: run everlong install ${target.name}`]),
    ...(named('changed').length > 0 ? [`changed since: ${named('changed').join(', ')}`] : []),
    ...(named('missing').length > 0 ? [`missing: ${named('missing').join(', ')}`] : []),
  ]
  return parts.join('; ')
}
