// A made-up session: an agent adds idempotency keys to a payments service. It has the things that compactions often get wrong: a
// rule given once, a reply that means nothing without its question, words typed while the agent works, a rejected call, a pasted
// log.
import { commit, edit, read, reject, run, todos, write } from './calls.ts'
import { migration, migrationTest, paymentsAfter, paymentsBefore, storeBefore, storeMethods } from './files.ts'
import { stagingLog, testOutput } from './outputs.ts'
import { Transcript } from './transcript.ts'

const plan = ['Make POST /payments idempotent', 'Log the idempotency key', 'Write the migration for idempotency_keys']

export function madeUpSession(): Transcript {
  const session = new Transcript()
  idempotency(session)
  staging(session)
  return migrating(session)
}

function idempotency(session: Transcript): void {
  session
    .user(
      'POST /payments charges twice when a client retries after a timeout. Make it idempotent with an Idempotency-Key header. Never change the exported types in src/api.ts, other teams compile against them.',
    )
    .agent(
      'I will look at the handler and the store first.',
      read('src/payments.ts', paymentsBefore),
      read('src/store.ts', storeBefore),
      run('npm test', testOutput({ passed: 118, failed: [] })),
    )
    .agent(
      'The handler calls `gateway.charge` before anything is stored, so a retry charges again. There are two ways to remember a key:\n\n1. In Redis with a TTL of 24 hours. Fast, but a failover can lose keys, and a lost key is a second charge.\n2. In Postgres, in the same transaction as the payment. One more insert per payment, but it cannot disagree with the payments table.\n\nI recommend 2. Which one do you want?',
    )
    .user('2')
    .agent('Postgres it is. I start with the plan.', todos(plan, ['in_progress', 'pending', 'pending']))
    .agent('First the store.', edit('src/store.ts', storeMethods))
    .agent('Then the handler.', edit('src/payments.ts', { from: paymentsBefore, to: paymentsAfter }))
    .agent(
      'Now the tests.',
      run('npm test', testOutput({ passed: 119, failed: ['retries › returns the first answer'] })),
    )
    .queued('also log the key with each payment, but never log card numbers')
    .agent(
      'The test fails because `insertKey` runs outside the transaction: the second request does not see the uncommitted row and charges again. It has to take the row lock with `insert … on conflict do nothing returning`, inside `store.transaction`.',
      edit('src/store.ts', {
        from: '    return this.pool.query(insertKeySql, [key, hash])',
        to: '    return this.current().query(insertKeySql, [key, hash])',
      }),
      run('npm test', testOutput({ passed: 120, failed: [] })),
    )
    .agent(
      'Both are in: the key is logged as `idempotencyKey`, and the logger drops the field `card`.',
      edit('src/payments.ts', {
        from: "  log.info('payment', { id: payment.id })",
        to: "  log.info('payment', { id: payment.id, idempotencyKey: key })",
      }),
      run('npm test', testOutput({ passed: 121, failed: [] })),
      commit('4be19d2', 'Make POST /payments idempotent'),
      todos(plan, ['completed', 'completed', 'pending']),
      reject('git push --force origin idempotency', 'never push, I do that myself after reading the diff'),
    )
    .agent(
      'Understood, I will not push. POST /payments is idempotent now: the key, a hash of the body and the response are stored in the transaction of the payment. A retry with the same key gets the stored response; the same key with another body gets 422. 121 tests pass, committed as 4be19d2 on the branch idempotency.',
    )
}

function staging(session: Transcript): void {
  session
    .user(`This is from staging last night. What happened there?\n\n${stagingLog}`)
    .agent(
      'I look for the place that throws.',
      run('grep -rn "duplicate key" src', 'src/store.ts:31:  // duplicate key'),
    )
    .agent(
      'Two requests with the same key arrived within 3 ms on different instances. Both passed `findKey`, then one of them failed on the unique index `idempotency_keys_pkey` and answered 500. No card was charged twice. The cause is that staging runs the build before 4be19d2, which looked first and inserted afterwards; since 4be19d2 the insert itself is the check. I tried to reproduce it with 200 parallel requests against the current code: 1 charge, 199 stored answers, no 500.',
      run('node scripts/hammer.mjs --parallel 200', 'charges: 1\nstored answers: 199\nerrors: 0'),
    )
    .agent('So nothing has to be fixed: deploying 4be19d2 to staging is enough.')
}

function migrating(session: Transcript): Transcript {
  return session
    .user(
      'Good. Now write the migration for idempotency_keys. Keys may be dropped after 7 days, not 24 hours, because the mobile app retries for days. Do not run it, our DBA does that.',
    )
    .agent(
      'I write it as the next numbered migration, with an index for the cleanup.',
      write('migrations/0042_idempotency_keys.sql', migration),
      todos(plan, ['completed', 'completed', 'in_progress']),
      write('test/migrations.test.ts', migrationTest),
      run(
        'npm run typecheck',
        "test/migrations.test.ts(14,31): error TS2339: Property 'down' does not exist on type 'Migration'.",
        2,
      ),
    )
    .agent(
      'The type `Migration` has no `down` yet. It is declared in src/migrate.ts, so I can add it there without touching src/api.ts.',
      read('src/migrate.ts', 'export type Migration = {\n  readonly number: number\n  readonly up: string\n}\n'),
    )
}
