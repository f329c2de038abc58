// Peers that are too heavy for everybody's install: bench/apart lists them, and they are installed there when a benchmark
// first needs them.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fetchPackages } from '../../../scripts/fetch-packages.ts'
import { root } from '../root.ts'

const folder = 'bench/apart'

/** A module of one of them, by its place below node_modules. */
export async function importApart<T>(path: string): Promise<T> {
  fetchPeers()
  return (await import(pathToFileURL(join(root, folder, 'node_modules', path)).href)) as T
}

export function fetchPeers(): void {
  fetchPackages({ folder, what: 'the heavy peers (about 320 MB)' })
}

export function fetchAgentSdkPackage(): void {
  fetchPackages({ folder: `${folder}/agent-sdk`, what: 'the Claude Agent SDK (about 410 MB)' })
}
