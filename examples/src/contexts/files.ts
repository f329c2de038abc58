// The files of the made-up project, as far as the session shows them.

export const paymentsBefore = `import { gateway } from './gateway.ts'
import { log } from './log.ts'
import { store } from './store.ts'
import type { PaymentRequest, PaymentResponse } from './api.ts'

export async function createPayment(request: PaymentRequest): Promise<PaymentResponse> {
  const charge = await gateway.charge(request.card, request.amount)
  const payment = await store.insertPayment(request, charge)
  log.info('payment', { id: payment.id })
  return { id: payment.id, status: charge.status }
}
`

export const paymentsAfter = `import { gateway } from './gateway.ts'
import { hashOf } from './hash.ts'
import { log } from './log.ts'
import { store } from './store.ts'
import type { PaymentRequest, PaymentResponse } from './api.ts'

export async function createPayment(request: PaymentRequest, key: string): Promise<PaymentResponse> {
  return store.transaction(async () => {
    const known = await store.insertKey(key, hashOf(request))
    if (known) return known.response
    const charge = await gateway.charge(request.card, request.amount)
    const payment = await store.insertPayment(request, charge)
    log.info('payment', { id: payment.id })
    const response = { id: payment.id, status: charge.status }
    await store.saveResponse(key, response)
    return response
  })
}
`

const storeEnd = `}

export const store = new Store()
`

export const storeBefore = `import { Pool } from 'pg'
import type { PaymentRequest } from './api.ts'

export class Store {
  private readonly pool = new Pool()

  async insertPayment(request: PaymentRequest, charge: Charge): Promise<Payment> {
    const { rows } = await this.pool.query(insertPaymentSql, [request.account, request.amount, charge.id])
    return rows[0]
  }
${storeEnd}`

export const storeMethods = {
  from: storeEnd,
  to: `
  async insertKey(key: string, hash: string): Promise<StoredKey | undefined> {
    // duplicate key: the row that is there answers
    return this.pool.query(insertKeySql, [key, hash])
  }

  async saveResponse(key: string, response: PaymentResponse): Promise<void> {
    await this.current().query(saveResponseSql, [key, response])
  }
${storeEnd}`,
}

export const migration = `-- up
create table idempotency_keys (
  key text primary key,
  body_hash text not null,
  response jsonb,
  created_at timestamptz not null default now()
);
create index idempotency_keys_created_at on idempotency_keys (created_at);

-- down
drop table idempotency_keys;
`

export const migrationTest = `import { expect, test } from 'vitest'
import { migrations } from '../src/migrate.ts'

test('migration 0042 can be taken back', () => {
  const found = migrations.find(({ number }) => number === 42)
  expect(found?.down).toContain('drop table idempotency_keys')
})
`
