// `everlong gateway erase`: removes a user from the stores of a gateway.
import { count } from '@everlong/agent/render'
import { type Erased, eraseUser } from '@everlong/gateway'
import type { Io } from '../../io.ts'
import { gathered, type Outcome } from '../../outcome.ts'
import { facts, type Screen } from '../../render/screen.ts'
import { type StoreChoice, withStoresOf } from './stores.ts'

export type EraseOptions = StoreChoice & { readonly tenant: string; readonly user: string; readonly json?: boolean }

export async function gather({ tenant, user, ...choice }: EraseOptions, io: Io): Promise<Outcome<Erased>> {
  return withStoresOf(choice, io, async (stores) => gathered(await eraseUser(stores, { tenant, user })))
}

export function render({ tenant, user, sessions, managed, notes, rows }: Erased, screen: Screen): readonly string[] {
  if (sessions + managed + notes + rows === 0) return [`Nothing is left of the user ${user} in the tenant ${tenant}.`]
  return [
    `Erased the user ${user} from the tenant ${tenant}:`,
    '',
    ...facts(
      [
        ['sessions', count(sessions)],
        ['copies of level 3', count(managed)],
        ['ends of conversations, notes', count(notes)],
        ['rows of the books, made anonymous', count(rows)],
      ],
      screen,
    ),
  ]
}
