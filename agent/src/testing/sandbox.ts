// For tests in the real sandbox, which some machines lack: they are skipped with the reason if it cannot start.
import { homedir } from 'node:os'
import { commandEnvironment } from '../permissions/secrets.ts'
import { startKeeper } from '../sandbox/keeper-process.ts'

/** The reason why this machine has no sandbox, or undefined. */
export async function whyNoSandbox(): Promise<string | undefined> {
  const keeper = startKeeper({ environment: commandEnvironment(process.env), onConnect: async () => false })
  const why = await keeper.ready
  await keeper.close()
  return why
}

/** A folder that the sandbox does not treat as temporary, because commands can read and change temporary files. */
export function closedFolder(): string {
  return process.platform === 'linux' ? '/var/tmp' : homedir()
}
