// Installs Everlong into one agent, and removes it again. If anything must not be overwritten, nothing is written.
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { removeEmpty, writeAll } from '../../disk.ts'
import { dataFolders } from './data.ts'
import { type Plan, planInstall, planUninstall } from './plan.ts'
import { ownFolders, readRecord } from './record.ts'
import type { InstallTarget, Place } from './target.ts'

export type InstallResult = {
  readonly plan: Plan
  /** Folders of the plug-in's own data, removed with all their content. */
  readonly data: readonly string[]
  /** Whether the plan was executed. */
  readonly isDone: boolean
}

export function installInto(
  target: InstallTarget,
  place: Place,
  { version, dryRun = false }: { readonly version: string; readonly dryRun?: boolean },
): InstallResult {
  const plan = planInstall(target, place, { record: readRecord(place.home, target.name), version })
  const isDone = !dryRun && plan.refusals.length === 0
  if (isDone) writeAll(plan)
  return { plan, data: [], isDone }
}

/** Undefined if it is not installed. */
export function removeFrom(
  target: InstallTarget,
  place: Place,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): InstallResult | undefined {
  const record = readRecord(place.home, target.name)
  if (!record) return undefined
  const plan = planUninstall(record, place.home, target)
  const data = dataFolders(target, place, record.folders)
  const isDone = !dryRun && plan.refusals.length === 0
  if (isDone) {
    writeAll(plan)
    for (const folder of data) rmSync(folder, { recursive: true, force: true })
    removeEmpty([...data.map(dirname), ...record.folders.toReversed(), ...ownFolders(place.home)])
  }
  return { plan, data, isDone }
}
