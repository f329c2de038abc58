// The stores of a gateway, for commands that read or change them: by its configuration, or by its data folder.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ConfigError, loadConfig, openStores, type Stores } from '@everlong/gateway'
import { StoreError } from 'everlong'
import type { Io } from '../../io.ts'
import { failed, type Outcome } from '../../outcome.ts'

export type StoreChoice = {
  readonly data?: string
  readonly config?: string
}

/** Opens the stores for a task. Problems with them become a failure. */
export async function withStoresOf<R>(
  choice: StoreChoice,
  io: Io,
  task: (stores: Stores) => Promise<Outcome<R>>,
): Promise<Outcome<R>> {
  try {
    const path = choice.config === undefined ? undefined : resolve(io.cwd, choice.config)
    const config = loadConfig(path, choice.data === undefined ? {} : { data: choice.data }, io.env)
    const data = resolve(io.cwd, config.data)
    if (!config.store && !existsSync(join(data, 'gateway.db')))
      return failed(
        `There are no books of a gateway in ${config.data}. Name its folder with --data, or its file with --config.`,
      )
    const stores = openStores({ ...config, data }, () => undefined)
    try {
      await stores.ready()
      return await task(stores)
    } finally {
      await stores.close()
    }
  } catch (error) {
    if (error instanceof ConfigError || error instanceof StoreError) return failed(error.message)
    throw error
  }
}
