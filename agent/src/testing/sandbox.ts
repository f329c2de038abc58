// For tests in the real sandbox, which is not on every machine: they are skipped with the reason where it cannot start.
import { homedir } from 'node:os'
import { commandEnvironment } from '../permissions/secrets.ts'
import { startKeeper } from '../sandbox/keeper-process.ts'

/** Why there is no sandbox on this machine, or undefined. */
export async function whyNoSandbox(): Promise<string | undefined> {
  const keeper = startKeeper({ environment: commandEnvironment(process.env), onConnect: async () => false })
  const why = await keeper.ready
  await keeper.close()
  return why
}

/** A folder that is not temporary for the sandbox: commands can read and change temporary files. */
export function closedFolder(): string {
  return process.platform === 'linux' ? '/var/tmp' : homedir()
}
