// The long outputs of the tour, made rather than written: access logs, load tests, test runs. No chance involved.

const clients = ['shop-7f', 'courier-2a', 'sync-90', '203.0.113.9', '198.51.100.24', 'crawler-x1'] as const

/** An access log in which one client is much louder than the rest. */
export function accessLog(lines: number): string {
  return Array.from({ length: lines }, (_, index) => {
    const client = index % 5 === 0 ? clients[(index / 5) % 5] : 'crawler-x1'
    const time = `02:${String(14 + Math.floor(index / 60)).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}`
    const isSlow = index % 7 === 3
    const parcel = `PD${100_000 + ((index * 7919) % 90_000)}`
    return `${time} GET /parcels/${parcel}${index % 3 === 0 ? '/events' : ''} ${isSlow ? 504 : 200} ${isSlow ? 30_000 : 4 + ((index * 13) % 90)}ms ${client}`
  }).join('\n')
}

export type LoadTest = {
  readonly seconds: number
  readonly rate: number
  readonly client: string
  readonly allowed: number
}

/** Second by second, as the load script prints it. */
export function loadTest({ seconds, rate, client, allowed }: LoadTest): string {
  const rows = Array.from({ length: seconds }, (_, second) => {
    const passed = Math.min(rate, second === 0 ? 20 : allowed)
    const p99 = 6 + ((second * 37) % 11)
    return `t=${String(second).padStart(3)}s  client=${client}  sent=${rate}  200=${passed}  429=${rate - passed}  p50=${2 + (second % 3)}ms  p99=${p99}ms`
  })
  return [`load: ${rate} requests a second for ${seconds} s as ${client}`, ...rows, 'done, 0 connection errors'].join(
    '\n',
  )
}

export type TestRun = {
  readonly passed: readonly string[]
  readonly failed?: readonly string[]
  readonly trace?: string
}

export function testRun({ passed, failed = [], trace = '' }: TestRun): string {
  const ok = passed.map((name, index) => `ok ${index + 1} - ${name} # ${(0.4 + index * 0.37).toFixed(2)} ms`)
  const bad = failed.map(
    (name, index) => `not ok ${passed.length + index + 1} - ${name}\n  ---\n  type: 'test'\n${trace}\n  ...`,
  )
  const total = passed.length + failed.length
  return [
    'TAP version 13',
    ...ok,
    ...bad,
    `1..${total}`,
    `# tests ${total}`,
    `# pass ${passed.length}`,
    `# fail ${failed.length}`,
  ].join('\n')
}
