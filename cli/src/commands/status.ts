// `everlong status`: which agents Everlong is installed in, and whether the files are still as they were written.
import { counted, visible } from '@everlong/agent/render'
import packageFacts from '../../package.json' with { type: 'json' }
import { readFileAt } from '../install/disk.ts'
import { homeOf } from '../install/place.ts'
import { hashOf, planUninstall } from '../install/plan.ts'
import { DamagedRecord, type FileRecord, type InstallRecord, readRecord } from '../install/record.ts'
import { targets } from '../install/targets.ts'
import { expecting, failed, gathered, type Outcome } from '../outcome.ts'
import { facts, type Screen } from '../render/screen.ts'
import type { Surroundings } from '../surroundings.ts'

export type StatusReport = { readonly version: string; readonly targets: readonly TargetStatus[] }

export type TargetStatus = {
  readonly name: string
  readonly title: string
  /** Undefined if it is not installed. */
  readonly version: string | undefined
  /** `changed`: somebody edited a file since; `missing`: somebody removed one. */
  readonly files: readonly { readonly path: string; readonly state: 'as-written' | 'changed' | 'missing' }[]
  /** Files that `uninstall` would ask the person to change by hand. */
  readonly byHand: readonly string[]
}

export function gather({ env }: Surroundings): Outcome<StatusReport> {
  const home = homeOf(env)
  return expecting(home, () => {
    try {
      return gathered({
        version: packageFacts.version,
        targets: targets.map(({ name, title }) => ({ name, title, ...statusOf(readRecord(home, name), home) })),
      })
    } catch (error) {
      if (error instanceof DamagedRecord) return failed(error.message)
      throw error
    }
  })
}

function statusOf(record: InstallRecord | undefined, home: string): Omit<TargetStatus, 'name' | 'title'> {
  if (!record) return { version: undefined, files: [], byHand: [] }
  const { refusals } = planUninstall(record, home)
  const files = record.files.map((file) => ({ path: file.path, state: stateOf(file) }))
  return { version: record.version, files, byHand: refusals.map(({ path }) => path) }
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
