// `everlong gateway report`: the books of a gateway, from its data folder or its database.
import { count, counted, dollars, percent, short } from '@everlong/agent/render'
import { type Report, reportOf } from '@everlong/gateway'
import type { Io } from '../../io.ts'
import { gathered, type Outcome } from '../../outcome.ts'
import { facts, heading, type Screen, table } from '../../render/screen.ts'
import { type StoreChoice, withStoresOf } from './stores.ts'

export type ReportOptions = StoreChoice & {
  readonly tenant?: string
  readonly days?: number
  readonly json?: boolean
}

const day = 86_400_000

export async function gather({ tenant, days, ...choice }: ReportOptions, io: Io): Promise<Outcome<Report>> {
  return withStoresOf(choice, io, async ({ state }) => {
    const since = days === undefined ? 0 : io.now() - days * day
    return gathered(reportOf(await state.books.sums({ tenant, since })))
  })
}

const outcomes = {
  hit: 'hit',
  'first-request': 'first request of a conversation',
  expired: 'expired',
  'prefix-changed': 'the prefix changed',
  'not-cached': 'nothing was cached before',
  unknown: 'unknown',
} as const

function keepAliveLine({ touches, cost, kept, saved }: Report['keepAlive']): readonly [string, string] {
  return [
    'caches kept warm',
    `${counted(touches, 'touch', 'touches')}, ${dollars(cost)}; ${counted(kept, 'pause')} saved ${dollars(saved)}`,
  ]
}

export function render(report: Report, screen: Screen): readonly string[] {
  const { requests, failed: refused, cost, unpriced, cache, removed, own, keepAlive, balance, tenants, models } = report
  const told = cache.reduce((sum, line) => sum + line.requests, 0)
  const right = (name: string) => ({ name, align: 'right' as const })
  const lines = (name: string, rows: Report['models']) =>
    table(
      [
        { name },
        right('requests'),
        right('cost'),
        right('input'),
        right('cache read'),
        right('cache write'),
        right('output'),
      ],
      rows.map((row) => [
        ...[row.name, count(row.requests), dollars(row.cost), short(row.input)],
        ...[short(row.cacheRead), short(row.cacheWrite), short(row.output)],
      ]),
      screen,
    )
  const inRed = (value: number) => (value < 0 ? screen.paint('red', `-${dollars(-value)}`) : dollars(value))
  return [
    ...facts(
      [
        ['requests', refused === 0 ? count(requests) : `${count(requests)}, ${count(refused)} of them failed`],
        [
          'cost',
          `${dollars(cost)}${unpriced === 0 ? '' : `, without ${counted(unpriced, 'request')} of unknown price`}`,
        ],
        [
          'removed from requests',
          `${short(removed.tokens)} tokens, worth ${dollars(removed.saved)} where they would have been billed`,
        ],
        ['own model calls', `${count(own.requests)}, ${dollars(own.cost)}`],
        ...(keepAlive.touches === 0 ? [] : [keepAliveLine(keepAlive)]),
        ['balance', `${inRed(balance)}${balance < 0 ? ' (the gateway costs more than it saves)' : ''}`],
      ],
      screen,
    ),
    '',
    heading('Prompt cache', screen),
    ...table(
      [{ name: 'outcome' }, right('requests'), right('share'), right('extra cost')],
      cache.map((line) => [
        ...[outcomes[line.outcome], count(line.requests), percent(line.requests, told)],
        line.outcome === 'hit' ? '' : dollars(line.cost),
      ]),
      screen,
    ),
    '',
    heading('By tenant', screen),
    ...lines('tenant', tenants),
    '',
    heading('By model', screen),
    ...lines('model', models),
  ]
}
