// Long outputs of the made-up session, which fill a context and are never needed again.

const suites = [
  'accounts',
  'api',
  'fees',
  'gateway',
  'ledger',
  'limits',
  'payments',
  'payouts',
  'refunds',
  'retries',
  'webhooks',
]

export function testOutput({
  passed,
  failed,
}: {
  readonly passed: number
  readonly failed: readonly string[]
}): string {
  const lines = Array.from({ length: passed }, (_, at) => {
    const suite = suites[at % suites.length] ?? ''
    return ` ✓ test/${suite}.test.ts > ${suite} > case ${Math.floor(at / suites.length) + 1} ${(at % 9) + 1}ms`
  })
  const broken = failed.map(
    (name) => ` × test/${name}\n   AssertionError: expected 1 charge, got 2\n    at test/retries.test.ts:41:5`,
  )
  const count = failed.length === 0 ? `${passed} passed` : `${failed.length} failed | ${passed} passed`
  return [...lines, ...broken, '', ` Tests  ${count} (${passed + failed.length})`].join('\n')
}

export const stagingLog = Array.from({ length: 36 }, (_, at) => {
  const time = `2026-05-03T23:14:0${Math.floor(at / 12)}.${String(100 + at * 3)}Z`
  const instance = `pay-${at % 3}`
  return at % 12 === 7
    ? `${time} ERROR [${instance}] POST /payments 500 duplicate key value violates unique constraint "idempotency_keys_pkey"`
    : `${time} INFO [${instance}] POST /payments 201 ${12 + (at % 5)}ms account=${4000 + at}`
}).join('\n')
